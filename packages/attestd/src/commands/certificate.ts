import { extname } from "node:path";
import { aborted } from "node:util";
import { makingOf } from "@attestd/web";
import {
  type CertificateOptions,
  checkedWithEvidence,
  EXTENSIONS,
  INTO_FOLDER,
  judgedOf,
  type Making,
  outputs,
  requireGood,
  saveCertificate,
} from "../certificate-file.ts";
import { chainCheck } from "../chain-check.ts";
import { type Checked, checkSource, trustedKeys } from "../checked-file.ts";
import type { Environment } from "../environment.ts";
import { EXIT, type ExitCode, Failure, worst } from "../failure.ts";
import { nothingIn, type Source, sourcesOf } from "../sources.ts";

/**
 * Makes a certificate of each verified bundle, with a QR code for verifying it and the bundle inside; of a batch's answer one
 * for each item, or with `--whole` one of each batch.
 *
 * @param names files, folders or URLs of bundles or certificates; `-` is standard input
 * @returns for several: not verified before usage before unreadable before unreachable
 * @throws Failure for one: `notVerified` when it is not verified; `usage` when no key history names the attestor
 */
export async function certificate(
  names: string[],
  options: CertificateOptions,
  environment: Environment,
): Promise<ExitCode> {
  // A folder may have the certificates of its bundles already.
  const sources = (await sourcesOf(names)).filter(({ name, isFound }) => !isFound || /\.json$/i.test(name));
  if (options.evidence !== undefined && sources.length > 1)
    throw new Failure(EXIT.usage, "--evidence is of one bundle", [
      "Put it beside each bundle: b.evidence.json of b.json.",
    ]);
  const nameOutput = await outputs(sources, options);
  // A certificate names the attestor, which a key history does, and the id of a key does not.
  const { kid: _kid, ...ofHistory } = options;
  const trusted = await trustedKeys(ofHistory);
  const chains = await chainCheck(options, trusted);
  const making: Making = { trusted, chains, options, environment };
  if (options.whole) {
    const { batchCertificates } = await import("./batch-certificate.ts");
    return batchCertificates(names, sources, nameOutput, making);
  }
  const { err, out } = environment;
  const stop = environment.stop();
  const interrupted = aborted(stop, stop);
  using working = environment.working(chains && "asking the chains");
  const codes: number[] = [];
  for (const source of sources) {
    if (sources.length > 1) working.show(`${codes.length + 1} of ${sources.length}`);
    try {
      const made = makeOne(source, nameOutput, making);
      const code = await Promise.race([made, interrupted]);
      if (stop.aborted) throw new Failure(EXIT.interrupted, "interrupted");
      if (typeof code === "number") codes.push(code);
    } catch (error) {
      if (!(error instanceof Failure) || sources.length === 1 || error.exitCode === EXIT.interrupted) throw error;
      codes.push(error.exitCode);
      err.line(`attestd: ${source.name}: ${error.message}`);
      for (const line of error.more) err.line(`  ${line}`);
    }
  }
  working.show(undefined);
  if (codes.length === 0) throw nothingIn(names, sources.length);
  if (sources.length > 1) {
    const saved = codes.filter((code) => code === EXIT.good || code === EXIT.unreachable).length;
    const failed = codes.length - saved;
    out.line(
      `${saved} ${saved === 1 ? "certificate" : "certificates"} saved${failed > 0 ? `, ${failed} not made` : ""}`,
    );
  }
  return worst(codes);
}

/** @returns undefined for a file that a folder has beside bundles */
async function makeOne(
  source: Source,
  nameOutput: (source: Source) => string,
  making: Making,
): Promise<ExitCode | undefined> {
  const [result, ...others] = await checkSource(source, making);
  if (others.length > 0) {
    const bundles = [result, ...others].filter((one) => one.kind === "checked");
    if (EXTENSIONS.includes(extname(making.options.out ?? "").toLowerCase()))
      throw new Failure(EXIT.usage, `--out is one file, and the batch has ${bundles.length} bundles`, [INTO_FOLDER]);
    const codes: ExitCode[] = [];
    for (const bundle of bundles) codes.push(await certify(bundle, nameOutput(source), making));
    return worst(codes);
  }
  if (result.kind === "unreadable") throw new Failure(result.exitCode, `can't read ${source.name}`, [result.why]);
  if (result.kind === "other" || (result.kind === "receipt" && source.isFound)) return undefined;
  if (result.kind === "receipt")
    throw new Failure(EXIT.unreadable, `can't read ${source.name}`, ["It is a receipt, not a bundle."]);
  return certify(result, nameOutput(source), making);
}

/** Makes the certificate of one bundle. @throws Failure */
async function certify(offline: Checked, path: string, making: Making): Promise<ExitCode> {
  const { options } = making;
  const result = await checkedWithEvidence(offline, options);
  requireGood(result, making);
  const stated = makingOf(judgedOf(result, making), new Date(), options.paper);
  const { bytes, evidence, ledgerTrouble } = result;
  return saveCertificate(path, { bytes, stated, evidence }, ledgerTrouble, making);
}

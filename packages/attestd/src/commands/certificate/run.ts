import { extname } from "node:path";
import { aborted } from "node:util";
import { makingOf } from "@attestd/web";
import { EXIT, type ExitCode, Failure, worst } from "../../failure.ts";
import { nothingIn, type Source, sourcesOf } from "../../files/sources.ts";
import type { Environment } from "../../terminal/environment.ts";
import { chainCheck } from "../../trust/chain-check.ts";
import { type Checked, checkSource, trustedKeys } from "../../trust/check-file.ts";
import {
  type CertificateOptions,
  checkedWithEvidence,
  EXTENSIONS,
  historyFor,
  INTO_FOLDER,
  judgedOf,
  type Making,
  outputs,
  refusalOf,
  saveCertificate,
} from "./file.ts";

/**
 * Makes a certificate of each verified bundle, with a QR code for verifying it and the bundle inside. From the answer of a batch
 * it makes one for each item or, with `--whole`, one for the batch.
 *
 * @param names files, folders or URLs of bundles or certificates; `-` is standard input
 * @returns for several: not verified before usage before unreadable before unreachable
 * @throws Failure for a single one: `notVerified`; `usage` when no key history names the attestor
 */
export async function makeCertificates(
  names: string[],
  options: CertificateOptions,
  environment: Environment,
): Promise<ExitCode> {
  // A folder may already contain the certificates of its bundles.
  const sources = (await sourcesOf(names)).filter(({ name, isFound }) => !isFound || /\.json$/i.test(name));
  if (options.evidence !== undefined && sources.length > 1)
    throw new Failure(EXIT.usage, "--evidence is of one bundle", [
      "Put it beside each bundle: b.evidence.json of b.json.",
    ]);
  const nameOutput = await outputs(sources, options);
  const trusted = await trustedKeys(options);
  const chains = await chainCheck(options, trusted);
  const making: Making = { trusted, chains, options, environment };
  if (options.whole) {
    const { batchCertificates } = await import("./batch.ts");
    return batchCertificates(names, sources, nameOutput, making);
  }
  const { err, out } = environment;
  const stop = environment.stop();
  const interrupted = aborted(stop, stop);
  using working = environment.working(chains && "asking the chains");
  const codes: number[] = [];
  for (const source of sources) {
    if (sources.length > 1) working.show(`${codes.length + 1} of ${sources.length}`);
    const made = await Promise.race([makeFrom(source, nameOutput, making), interrupted]);
    if (stop.aborted) throw new Failure(EXIT.interrupted, "interrupted");
    if (made instanceof Failure) {
      if (sources.length === 1) throw made;
      codes.push(made.exitCode);
      err.line(`attestd: ${source.name}: ${made.message}`);
      for (const line of made.more) err.line(`  ${line}`);
    } else if (typeof made === "number") codes.push(made);
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

/** @returns undefined for a file of another kind in a folder */
async function makeFrom(
  source: Source,
  nameOutput: Awaited<ReturnType<typeof outputs>>,
  making: Making,
): Promise<ExitCode | Failure | undefined> {
  const [result, ...others] = await checkSource(source, making);
  if (others.length > 0) {
    const bundles = [result, ...others].filter((one) => one.kind === "checked");
    if (EXTENSIONS.includes(extname(making.options.out ?? "").toLowerCase()))
      return new Failure(EXIT.usage, `--out is one file, and the batch has ${bundles.length} bundles`, [INTO_FOLDER]);
    const codes: ExitCode[] = [];
    for (const bundle of bundles) {
      const made = await certify(bundle, nameOutput(source), making);
      if (made instanceof Failure) return made;
      codes.push(made);
    }
    return worst(codes);
  }
  if (result.kind === "unreadable") return new Failure(result.exitCode, `can't read ${source.name}`, [result.why]);
  if (result.kind === "other" || (result.kind === "receipt" && source.isFound)) return undefined;
  if (result.kind === "receipt")
    return new Failure(EXIT.unreadable, `can't read ${source.name}`, ["It is a receipt, not a bundle."]);
  return certify(result, nameOutput(source), making);
}

/** Makes the certificate of one bundle. */
async function certify(offline: Checked, path: string | Failure, making: Making): Promise<ExitCode | Failure> {
  if (path instanceof Failure) return path;
  const { options, trusted } = making;
  const result = await checkedWithEvidence(offline, options);
  if (result instanceof Failure) return result;
  const refusal = refusalOf(result, making);
  if (refusal) return refusal;
  const history = historyFor(trusted);
  if (history instanceof Failure) return history;
  const stated = makingOf(judgedOf(result, history, making), new Date(), options.paper);
  const { bytes, evidence, ledgerTrouble } = result;
  return saveCertificate(path, { bytes, stated, evidence }, history, ledgerTrouble, making);
}

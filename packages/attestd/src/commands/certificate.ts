import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { basename, extname, join, resolve } from "node:path";
import { aborted } from "node:util";
import { subjectOf } from "@attestd/proof/description";
import { makeCertificate, makingOf, type Paper } from "@attestd/web";
import { historyOf } from "@attestd/web/trust-basis";
import { isVerified } from "@attestd/web/verdict";
import { type ChainCheck, chainCheck } from "../chain-check.ts";
import { type Checked, checkSource, type TrustOptions, trustedKeys } from "../checked-file.ts";
import type { Environment } from "../environment.ts";
import { EXIT, type ExitCode, Failure, failsFor } from "../failure.ts";
import { writeWhole } from "../files.ts";
import type { TrustedKeys } from "../keys-file.ts";
import { evidence, verdict } from "../report-text.ts";
import { isFolder, isUrl, nothingIn, type Source, sourcesOf } from "../sources.ts";

export type CertificateOptions = TrustOptions & { out?: string; force?: boolean; paper: Paper };

const EXTENSIONS = [".pdf", ".svg"];
const INTO_FOLDER = "Name a folder: --out FOLDER/";

/**
 * Makes a certificate of each verified bundle, with a QR code for verifying it and the bundle inside; of a batch's answer one
 * for each item.
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
  const nameOutput = await outputs(sources, options);
  // A certificate names the attestor, which a key history does, and the id of a key does not.
  const { kid: _kid, ...ofHistory } = options;
  const trusted = await trustedKeys(ofHistory);
  const chains = await chainCheck(options, trusted);
  const { err, out } = environment;
  const stop = environment.stop();
  const interrupted = aborted(stop, stop);
  using working = environment.working(chains && "asking the chains");
  const codes: number[] = [];
  for (const source of sources) {
    if (sources.length > 1) working.show(`${codes.length + 1} of ${sources.length}`);
    try {
      const made = makeOne(source, nameOutput, { trusted, chains, options, environment });
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

type Making = {
  trusted: TrustedKeys | undefined;
  chains: ChainCheck | undefined;
  options: CertificateOptions;
  environment: Environment;
};

/** @returns undefined for a file that a folder has beside bundles */
async function makeOne(
  source: Source,
  nameOutput: (source: Source) => string,
  making: Making,
): Promise<ExitCode | undefined> {
  const { trusted, chains, environment } = making;
  const [result, ...others] = await checkSource(source, trusted, chains, environment);
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
async function certify(
  result: Checked,
  path: string,
  { trusted, chains, options, environment }: Making,
): Promise<ExitCode> {
  const { err, out } = environment;
  const { kid = "" } = result.report.attestor;
  if (options.kid && result.report.verified && !options.kid.includes(kid))
    throw new Failure(EXIT.notVerified, "no certificate: signed by another key than --kid", [`Its key is ${kid}.`]);
  if (!isVerified(result)) {
    const { heading } = verdict(result);
    throw new Failure(EXIT.notVerified, `no certificate: ${heading.toLowerCase()}`, evidence(result, trusted, err));
  }
  const isThere = existsSync(path);
  if (isThere && !options.force && options.out !== path)
    throw new Failure(EXIT.usage, `${path} is there already`, ["Replace it with --force, or choose another: --out."]);
  const made = make(result, extname(path).toLowerCase() === ".pdf" ? "pdf" : "svg", { trusted, chains, options });
  const failure = failsFor(EXIT.usage, `write ${path}`, "folder", "Choose another file: --out.");
  await writeWhole(path, made.bytes, 0o644).catch(failure);

  out.marked("ok", `${isThere ? "Replaced" : "Saved"} ${path}`);
  out.line(`  ${made.title}`);
  out.line(`  certificate ${made.number}`);
  if (made.isStamped) out.line("  Marked as not real: it is of a sandbox.");
  if (result.ledgerTrouble === undefined) return EXIT.good;
  out.line(`  couldn't ask the ledger, so it says "offline": ${result.ledgerTrouble}`);
  return EXIT.unreachable;
}

/** @throws Failure `usage` */
function make(
  { report, bundle, bytes, ledgerTrouble }: Checked,
  format: "pdf" | "svg",
  { trusted, chains, options }: Omit<Making, "environment">,
) {
  const history = historyOf(trusted?.trust);
  if (bundle === undefined || trusted === undefined || history === undefined)
    throw new Failure(EXIT.usage, "a certificate needs the attestor's key history", ["Name it: --keys FILE."]);
  const comparedBy = ledgerTrouble === undefined ? chains?.askedOf : undefined;
  const keys = { history, basis: trusted.basis };
  const checked = { report, bundle, subject: subjectOf(bundle), keys, ...(comparedBy && { comparedBy }) };
  return makeCertificate(format, bytes, history, makingOf(checked, new Date(), options.paper));
}

/**
 * Names the file of each certificate: `--out` for one, else after its bundle, in the folder of `--out` or the current one.
 * Bundles of one name in several folders get numbers.
 * @throws Failure `usage`
 */
async function outputs(sources: readonly Source[], { out }: CertificateOptions): Promise<(source: Source) => string> {
  const intoFolder = out !== undefined && (/[/\\]$/.test(out) || (await isFolder(out)));
  if (intoFolder) await mkdir(out, { recursive: true }).catch(failsFor(EXIT.usage, `create ${out}`, "folder"));
  else if (out !== undefined && sources.length > 1)
    throw new Failure(EXIT.usage, "--out is one file, and there are several bundles", [INTO_FOLDER]);
  else if (out !== undefined && !EXTENSIONS.includes(extname(out).toLowerCase()))
    throw new Failure(EXIT.usage, "a certificate is a .pdf or an .svg", [`${out} is neither.`]);
  const taken = new Set<string>();
  return (source) => {
    const path = out === undefined || intoFolder ? unused(join(out ?? "", nameOf(source)), taken) : out;
    taken.add(path);
    if (source.kind !== "file" || resolve(path) !== resolve(source.name)) return path;
    throw new Failure(EXIT.usage, `${path} is the file to be read`, ["Choose another file: --out."]);
  };
}

function nameOf({ name }: Source): string {
  if (name === "-") return "certificate";
  const file = basename(isUrl(name) ? (URL.parse(name)?.pathname ?? "") : name);
  return basename(file, extname(file)).replaceAll(/[^\p{L}\p{N}._-]/gu, "_") || "certificate";
}

function unused(name: string, taken: ReadonlySet<string>): string {
  for (let n = 1; ; n++) {
    const path = `${name}${n === 1 ? "" : `-${n}`}.pdf`;
    if (!taken.has(path)) return path;
  }
}

function worst(codes: readonly number[]): ExitCode {
  const order = [EXIT.notVerified, EXIT.usage, EXIT.unreadable, EXIT.unreachable];
  return order.find((code) => codes.includes(code)) ?? EXIT.good;
}

import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { basename, extname, join, resolve } from "node:path";
import type { KeyHistory } from "@attestd/proof";
import { subjectOf } from "@attestd/proof/description";
import { makeCertificate, type Paper } from "@attestd/web";
import { historyOf } from "@attestd/web/trust-basis";
import { isVerified, type Judged } from "@attestd/web/verdict";
import type { Checked, Checking, TrustOptions } from "./checked-file.ts";
import { EXIT, type ExitCode, Failure, failsFor } from "./failure.ts";
import { writeWhole } from "./files.ts";
import type { TrustedKeys } from "./keys-file.ts";
import { evidence, verdict } from "./report-text.ts";
import { isFolder, isUrl, type Source } from "./sources.ts";

export type CertificateOptions = TrustOptions & {
  out?: string;
  force?: boolean;
  paper: Paper;
  whole?: boolean;
  evidence?: string;
};

export const EXTENSIONS = [".pdf", ".svg"];
export const INTO_FOLDER = "Name a folder: --out FOLDER/";

/** With what certificates are made. */
export type Making = Checking & { options: CertificateOptions };

/** @throws Failure `usage` without a key history, which names the attestor */
export function historyFor(trusted: TrustedKeys | undefined): KeyHistory {
  const history = historyOf(trusted?.trust);
  if (history) return history;
  throw new Failure(EXIT.usage, "a certificate needs the attestor's key history", ["Name it: --keys FILE."]);
}

/** A bundle, checked also with the evidence that its certificate is to carry: the one that is named, or beside it. */
export async function checkedWithEvidence(checked: Checked, { evidence }: CertificateOptions): Promise<Checked> {
  const { evidenceCheck } = await import("./evidence-file.ts");
  const check = await evidenceCheck(evidence === undefined ? {} : { evidence }, true);
  return check(checked);
}

/** A checked bundle, as certificates take one. @throws Failure as `historyFor` */
export function judgedOf(
  { report, bundle, ledgerTrouble }: Checked,
  { trusted, chains }: Pick<Checking, "trusted" | "chains">,
): Judged {
  const history = historyFor(trusted);
  const comparedBy = ledgerTrouble === undefined ? chains?.askedOf : undefined;
  const keys = trusted && { history, basis: trusted.basis };
  return { report, bundle, subject: bundle && subjectOf(bundle), keys, ...(comparedBy && { comparedBy }) };
}

/** What a certificate is made of: the bytes of the bundle or batch, what is stated of them, and the evidence it carries. */
type Stated = { bytes: Uint8Array; stated: Parameters<typeof makeCertificate>[3]; evidence: Uint8Array | undefined };

/**
 * Makes a certificate, saves it and prints what it is.
 *
 * @param trouble why the ledger could not be asked
 * @returns `unreachable` where it could not
 * @throws Failure `usage`
 */
export async function saveCertificate(
  path: string,
  { bytes, stated, evidence }: Stated,
  trouble: string | undefined,
  { trusted, options, environment: { out } }: Making,
): Promise<ExitCode> {
  const isThere = existsSync(path);
  if (isThere && !options.force && options.out !== path)
    throw new Failure(EXIT.usage, `${path} is there already`, ["Replace it with --force, or choose another: --out."]);
  const format = extname(path).toLowerCase() === ".pdf" ? "pdf" : "svg";
  const made = makeCertificate(format, bytes, historyFor(trusted), stated, evidence);
  const failure = failsFor(EXIT.usage, `write ${path}`, "folder", "Choose another file: --out.");
  await writeWhole(path, made.bytes, 0o644).catch(failure);
  out.marked("ok", `${isThere ? "Replaced" : "Saved"} ${path}`);
  out.line(`  ${made.title}`);
  out.line(`  certificate ${made.number}`);
  if (made.isStamped) out.line("  Marked as not real: it is of a sandbox.");
  if (trouble === undefined) return EXIT.good;
  out.line(`  couldn't ask the ledger, so it says "offline": ${trouble}`);
  return EXIT.unreachable;
}

/**
 * Names the file of each certificate: `--out` for one, else after its bundle, in the folder of `--out` or the current one.
 * Bundles of one name in several folders get numbers.
 * @throws Failure `usage`
 */
export async function outputs(
  sources: readonly Source[],
  { out, whole }: CertificateOptions,
): Promise<(source: Pick<Source, "name" | "kind">) => string> {
  const intoFolder = out !== undefined && (/[/\\]$/.test(out) || (await isFolder(out)));
  if (intoFolder) await mkdir(out, { recursive: true }).catch(failsFor(EXIT.usage, `create ${out}`, "folder"));
  else if (out !== undefined && sources.length > 1 && !whole)
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

function nameOf({ name }: Pick<Source, "name">): string {
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

/** @throws Failure `notVerified` for a bundle of which no certificate is made */
export function requireGood(result: Checked, { trusted, options, environment: { err } }: Making): void {
  const { kid = "" } = result.report.attestor;
  if (options.kid && result.report.verified && !options.kid.includes(kid))
    throw new Failure(EXIT.notVerified, "no certificate: signed by another key than --kid", [`Its key is ${kid}.`]);
  if (!isVerified(result)) {
    const { heading } = verdict(result);
    throw new Failure(EXIT.notVerified, `no certificate: ${heading.toLowerCase()}`, evidence(result, trusted, err));
  }
}

import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { basename, extname, join, resolve } from "node:path";
import type { KeyHistory } from "@attestd/proof";
import { subjectOf } from "@attestd/proof/description";
import { makeCertificate, type Paper } from "@attestd/web";
import { historyOf } from "@attestd/web/trust-basis";
import { isVerified, type Judged } from "@attestd/web/verdict";
import { EXIT, type ExitCode, Failure, failsFor, failureFor } from "../../failure.ts";
import { writeAtomically } from "../../files/files.ts";
import { isFolder, isUrl, type Source } from "../../files/sources.ts";
import type { ChainOptions } from "../../options.ts";
import type { Checked, Checking } from "../../trust/check-file.ts";
import { evidenceCheck } from "../../trust/evidence-file.ts";
import type { TrustedKeys } from "../../trust/keys.ts";
import { evidence, verdict } from "../../trust/report-text.ts";

/* A Failure ends the command only if there is a single file. So these functions return it, and their callers decide. */
export type CertificateOptions = ChainOptions & {
  keys?: string;
  out?: string;
  force?: boolean;
  paper: Paper;
  whole?: boolean;
  evidence?: string;
};

export const EXTENSIONS = [".pdf", ".svg"];
export const INTO_FOLDER = "Name a folder: --out FOLDER/";
const OTHER_FILE = "Choose another file: --out.";

/** Everything that is needed to make certificates. */
export type Making = Checking & { options: CertificateOptions };

/** @returns a Failure `usage` without a key history, which names the attestor */
export function historyFor(trusted: TrustedKeys | undefined): KeyHistory | Failure {
  const missing = () =>
    new Failure(EXIT.usage, "a certificate needs the attestor's key history", ["Name it: --keys FILE."]);
  return historyOf(trusted?.trust) ?? missing();
}

/** Checks a bundle also with the evidence for its certificate: the file that the option names, or the one beside the bundle. */
export async function checkedWithEvidence(
  checked: Checked,
  { evidence: file }: CertificateOptions,
): Promise<Checked | Failure> {
  const check = await evidenceCheck(file === undefined ? {} : { evidence: file }, true);
  const found = await check(checked);
  return "trouble" in found ? new Failure(EXIT.unreadable, found.trouble, [found.why]) : found;
}

/** @returns a Failure `notVerified` for a bundle that is not verified, of which no certificate is made */
export function refusalOf(result: Checked, { trusted, environment: { err } }: Making): Failure | undefined {
  if (isVerified(result)) return undefined;
  const { heading } = verdict(result);
  return new Failure(EXIT.notVerified, `no certificate: ${heading.toLowerCase()}`, evidence(result, trusted, err));
}

/** Turns a checked bundle into what certificates are made of. */
export function judgedOf(
  { report, bundle, ledgerTrouble }: Checked,
  history: KeyHistory,
  { trusted, chains }: Pick<Checking, "trusted" | "chains">,
): Judged {
  const comparedBy = ledgerTrouble === undefined ? chains?.askedOf : undefined;
  const keys = trusted && { history, basis: trusted.basis };
  return { report, bundle, subject: bundle && subjectOf(bundle), keys, ...(comparedBy && { comparedBy }) };
}

/** The content of a certificate: the bytes of the bundle or batch, what is stated about them, and the evidence inside. */
type Content = { bytes: Uint8Array; stated: Parameters<typeof makeCertificate>[3]; evidence: Uint8Array | undefined };

/**
 * Makes a certificate, saves it, and prints its title and number.
 *
 * @param trouble why the ledger could not be asked
 * @returns `unreachable` if the ledger could not be asked; a Failure `usage` if the file cannot be written
 */
export async function saveCertificate(
  path: string,
  { bytes, stated, evidence }: Content,
  history: KeyHistory,
  trouble: string | undefined,
  { options, environment: { out } }: Making,
): Promise<ExitCode | Failure> {
  const isThere = existsSync(path);
  if (isThere && !options.force && options.out !== path)
    return new Failure(EXIT.usage, `${path} is there already`, ["Replace it with --force, or choose another: --out."]);
  const format = extname(path).toLowerCase() === ".pdf" ? "pdf" : "svg";
  const made = makeCertificate(format, bytes, history, stated, evidence);
  const failure = await writeAtomically(path, made.bytes, 0o644).catch(
    failureFor(EXIT.usage, `write ${path}`, "folder", OTHER_FILE),
  );
  if (failure) return failure;
  out.marked("ok", `${isThere ? "Replaced" : "Saved"} ${path}`);
  out.line(`  ${made.title}`);
  out.line(`  certificate ${made.number}`);
  if (made.isStamped) out.line("  Marked as not real, because it is a sandbox's.");
  if (trouble === undefined) return EXIT.good;
  out.line(`  couldn't ask the ledger, so it says "offline": ${trouble}`);
  return EXIT.unreachable;
}

/**
 * Returns a function that names the file of each certificate: `--out` for one, otherwise after its bundle, in the folder of
 * `--out` or the current one. Bundles of the same name in several folders get numbers. It returns a Failure `usage` where the
 * certificate would replace its bundle.
 * @throws Failure `usage`
 */
export async function outputs(
  sources: readonly Source[],
  { out, whole }: CertificateOptions,
): Promise<(source: Pick<Source, "name" | "kind">) => string | Failure> {
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
    return new Failure(EXIT.usage, `${path} is the file to be read`, [OTHER_FILE]);
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

import { basename, extname, resolve } from "node:path";
import {
  type Certificate,
  type CertificateFormat,
  historyOf,
  makeCertificate,
  makingOf,
  type Paper,
  subjectOf,
} from "@attestd/web";
import { isVerified } from "@attestd/web/file-verdict";
import type { Environment } from "../environment.ts";
import { EXIT, type ExitCode, Failure, failsFor } from "../failure.ts";
import { writeWhole } from "../files.ts";
import { judgeFile, type Result, serviceToAsk, type TrustOptions, trustedKeys } from "../judged-file.ts";
import type { Believed } from "../keys-file.ts";
import { evidence, verdict } from "../report-text.ts";

export type CertificateOptions = TrustOptions & { out?: string; paper: Paper };

/**
 * Makes a certificate of a verified bundle: one sheet to print, with a QR code for verifying it and the bundle inside.
 *
 * @param file a bundle or a certificate; `-` is standard input
 * @throws Failure `notVerified` for a bundle that is not verified
 */
export async function certificate(
  file: string,
  options: CertificateOptions,
  environment: Environment,
): Promise<ExitCode> {
  const out = options.out ?? `${file === "-" ? "certificate" : basename(file, extname(file))}.pdf`;
  const format = extname(out).toLowerCase();
  if (format !== ".pdf" && format !== ".svg")
    throw new Failure(EXIT.usage, "a certificate is a .pdf or an .svg", [`${out} is neither.`]);
  if (file !== "-" && resolve(out) === resolve(file))
    throw new Failure(EXIT.usage, `${out} is the file to be read`, ["Name another: --out FILE."]);

  const believed = await trustedKeys(options);
  const service = await serviceToAsk(options, believed);
  const { err, out: say, working } = environment;
  using asking = working(service && "asking the chains");
  const result = await judgeFile(file, believed, service, environment);
  asking.say(undefined);
  if (result.kind === "unreadable") throw new Failure(EXIT.unreadable, `can't read ${file}`, [result.why]);
  if (!isVerified(result)) {
    const { heading } = verdict(result);
    throw new Failure(EXIT.notVerified, `no certificate: ${heading.toLowerCase()}`, evidence(result, believed, err));
  }
  const made = make(result, believed, service, format === ".pdf" ? "pdf" : "svg", options.paper);
  const failure = failsFor(EXIT.usage, `write ${out}`, "folder", "Name another: --out FILE.");
  await writeWhole(out, made.bytes, 0o644).catch(failure);

  say.marked("ok", `Saved ${out}`);
  say.line(`  ${made.title}`);
  if (made.isStamped) say.line("  Marked as not real: it is of a sandbox.");
  if (result.ledgerTrouble === undefined) return EXIT.good;
  say.line(`  couldn't ask the ledger, so it says "offline": ${result.ledgerTrouble}`);
  return EXIT.unreachable;
}

type Judged = Extract<Result, { kind: "judged" }>;

/** @throws Failure `usage` when no key history names the attestor */
function make(
  { report, bundle, bytes, ledgerTrouble }: Judged,
  believed: Believed | undefined,
  service: string | undefined,
  format: CertificateFormat,
  paper: Paper,
): Certificate {
  const history = historyOf(believed?.trust);
  if (bundle === undefined || believed === undefined || history === undefined)
    throw new Failure(EXIT.usage, "a certificate names the attestor, which only its key history tells", [
      "Give it: --keys FILE.",
    ]);
  const comparedBy = service === undefined || ledgerTrouble !== undefined ? undefined : new URL(service).host;
  const keys = { history, basis: believed.basis };
  const judged = { report, bundle, subject: subjectOf(bundle), keys, ...(comparedBy && { comparedBy }) };
  return makeCertificate(format, bytes, history, makingOf(judged, new Date(), paper));
}

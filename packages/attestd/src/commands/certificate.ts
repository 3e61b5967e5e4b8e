import { basename, extname, resolve } from "node:path";
import { makeCertificate, makingOf, type Paper, subjectOf } from "@attestd/web";
import { historyOf } from "@attestd/web/trust-basis";
import { isVerified } from "@attestd/web/verdict";
import { checkFile, serviceToAsk, type TrustOptions, trustedKeys } from "../checked-file.ts";
import type { Environment } from "../environment.ts";
import { EXIT, type ExitCode, Failure, failsFor } from "../failure.ts";
import { writeWhole } from "../files.ts";
import { evidence, verdict } from "../report-text.ts";

/**
 * Makes a certificate of a verified bundle: one sheet to print, with a QR code for verifying it and the bundle inside.
 *
 * @param file a bundle or a certificate; `-` is standard input
 * @throws Failure `notVerified` for a bundle that is not verified; `usage` when no key history names the attestor
 */
export async function certificate(
  file: string,
  options: TrustOptions & { out?: string; paper: Paper },
  environment: Environment,
): Promise<ExitCode> {
  const path = options.out ?? `${file === "-" ? "certificate" : basename(file, extname(file))}.pdf`;
  const extension = extname(path).toLowerCase();
  if (extension !== ".pdf" && extension !== ".svg")
    throw new Failure(EXIT.usage, "a certificate is a .pdf or an .svg", [`${path} is neither.`]);
  if (file !== "-" && resolve(path) === resolve(file))
    throw new Failure(EXIT.usage, `${path} is the file to be read`, ["Choose another file: --out."]);

  const trusted = await trustedKeys(options);
  const service = await serviceToAsk(options, trusted);
  const { err, out, working } = environment;
  using asking = working(service && "asking the chains");
  const result = await checkFile(file, trusted, service, environment);
  asking.show(undefined);
  if (result.kind === "unreadable") throw new Failure(EXIT.unreadable, `can't read ${file}`, [result.why]);
  if (!isVerified(result)) {
    const { heading } = verdict(result);
    throw new Failure(EXIT.notVerified, `no certificate: ${heading.toLowerCase()}`, evidence(result, trusted, err));
  }
  const { report, bundle, bytes, ledgerTrouble } = result;
  const history = historyOf(trusted?.trust);
  if (bundle === undefined || trusted === undefined || history === undefined)
    throw new Failure(EXIT.usage, "a certificate needs the attestor's key history", ["Name it: --keys FILE."]);
  const comparedBy = service === undefined || ledgerTrouble !== undefined ? undefined : new URL(service).host;
  const keys = { history, basis: trusted.basis };
  const checked = { report, bundle, subject: subjectOf(bundle), keys, ...(comparedBy && { comparedBy }) };
  const making = makingOf(checked, new Date(), options.paper);
  const made = makeCertificate(extension === ".pdf" ? "pdf" : "svg", bytes, history, making);
  const failure = failsFor(EXIT.usage, `write ${path}`, "folder", "Choose another file: --out.");
  await writeWhole(path, made.bytes, 0o644).catch(failure);

  out.marked("ok", `Saved ${path}`);
  out.line(`  ${made.title}`);
  if (made.isStamped) out.line("  Marked as not real: it is of a sandbox.");
  if (ledgerTrouble === undefined) return EXIT.good;
  out.line(`  couldn't ask the ledger, so it says "offline": ${ledgerTrouble}`);
  return EXIT.unreachable;
}

import { basename, extname, resolve } from "node:path";
import { certificateContents, historyOf, layOut, NotVerified, type Paper, subjectOf, toSvg } from "@attestd/web";
import { toPdf } from "../certificate-pdf.ts";
import type { Environment } from "../environment.ts";
import { EXIT, type ExitCode, Failure, fileTrouble } from "../failure.ts";
import { writeWhole } from "../files.ts";
import { judgeFile, type Result, serviceToAsk, type Whom, whoIsBelieved } from "../judged-file.ts";
import type { Believed } from "../keys-file.ts";
import { evidence, verdict } from "../report-text.ts";

export type CertificateOptions = Whom & { out?: string; paper: Paper };

/**
 * Makes a certificate of a bundle that is verified: one sheet to print, with a code that leads back to verification, and
 * the bundle itself inside.
 *
 * @param file a bundle or a certificate; `-` is standard input
 * @throws Failure `notVerified` for any other bundle
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

  const believed = await whoIsBelieved(options);
  const service = await serviceToAsk(options, believed);
  const { err, out: say, working } = environment;
  using asking = working(service && "asking the chains");
  const result = await judgeFile(file, believed, service, environment);
  asking.say(undefined);
  if (result.kind === "unreadable") throw new Failure(EXIT.unreadable, `can't read ${file}`, [result.why]);
  if (!result.report.verified) {
    const { heading } = verdict(result.report);
    throw new Failure(
      EXIT.notVerified,
      `no certificate: ${heading.toLowerCase()}`,
      evidence(result.report, result.bundle, believed, err),
    );
  }
  const now = new Date();
  const contents = contentsOf(result, believed, service, now);
  const sheet = layOut(contents, options.paper);
  const title = `Certificate of attestation: ${contents.title}`;
  const made = format === ".pdf" ? await toPdf(sheet, result.bytes, title, now) : toSvg(sheet, result.bytes, title);
  await writeWhole(out, made, 0o644).catch((error: unknown) => {
    throw new Failure(
      EXIT.usage,
      `can't write ${out}`,
      [fileTrouble(error, "folder"), "Name another: --out FILE."],
      error,
    );
  });

  say.marked("ok", `Saved ${out}`);
  say.line(`  ${contents.title}`);
  if (contents.stamp !== undefined) say.line("  Marked as not real: it is of a sandbox.");
  if (result.ledgerTrouble === undefined) return EXIT.good;
  say.line(`  couldn't ask the ledger, so it says "offline": ${result.ledgerTrouble}`);
  return EXIT.unreachable;
}

type Judged = Extract<Result, { kind: "judged" }>;

/** @throws Failure `usage` where the attestor's name is not known */
function contentsOf(result: Judged, believed: Believed | undefined, service: string | undefined, now: Date) {
  const { report, bundle, ledgerTrouble } = result;
  const history = historyOf(believed?.trust);
  const keys = history && believed && { history, basis: believed.basis };
  const isCompared = service !== undefined && ledgerTrouble === undefined;
  try {
    return certificateContents(
      {
        report,
        bundle,
        subject: bundle && subjectOf(bundle),
        keys,
        ...(isCompared && { comparedBy: new URL(service).host }),
      },
      now,
    );
  } catch (error) {
    if (!(error instanceof NotVerified)) throw error;
    throw new Failure(EXIT.usage, "a certificate names the attestor, which only its key history tells", [
      "Give it: --keys FILE.",
    ]);
  }
}

import { type Bundle, parseBundle } from "./bundle.ts";
import type { VerifyReport } from "./report.ts";

/** The bundle of each report, and what it was read from. */
const parsed = new WeakMap<VerifyReport, { input: unknown; bundle: Bundle }>();

/** Remembers, as long as the report lives, which bundle it is about. @param input from which the bundle was read */
export function rememberParsed(report: VerifyReport, input: unknown, bundle: Bundle): void {
  parsed.set(report, { input, bundle });
}

/** The bundle of a report, read again only from another input than that of the report. @throws ProofError as `parseBundle` */
export function parsedBundle(report: VerifyReport, input: unknown): Bundle {
  const found = parsed.get(report);
  return found !== undefined && found.input === input ? found.bundle : parseBundle(input);
}

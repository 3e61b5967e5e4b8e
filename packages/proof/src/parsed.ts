import { type Bundle, noteOf, parseBundle } from "./bundle.ts";
import type { Note } from "./note.ts";
import type { VerifyReport } from "./report.ts";

/** A bundle and its note; the note is undefined if malformed. */
export type Parsed = { bundle: Bundle; note: Note | undefined };

/** The subject of each report, and the input that it was read from. */
const known = new WeakMap<VerifyReport, Parsed & { input: unknown }>();

/** Remembers a report's bundle as long as the report lives. @param input from which the bundle was read */
export function rememberParsed(report: VerifyReport, input: unknown, { bundle, note }: Parsed): void {
  known.set(report, { input, bundle, note });
}

/**
 * Returns a report's bundle. It reads it again only if the input is not the report's. @throws ProofError as
 * `parseBundle`
 */
export function parsedOf(report: VerifyReport, input: unknown): Parsed {
  const found = known.get(report);
  if (found !== undefined && found.input === input) return found;
  const bundle = parseBundle(input);
  return { bundle, note: noteOf(bundle) };
}

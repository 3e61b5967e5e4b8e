import type { BatchHead } from "./batch.ts";
import { type Bundle, parseBundle, signedPart } from "./bundle.ts";
import { attempt } from "./errors.ts";
import { type Note, parseNote } from "./note.ts";
import type { VerifyReport } from "./report.ts";

/** A bundle, and its note; undefined if that has not its form. */
export type Parsed = { bundle: Bundle; note: Note | undefined };

/** What each report is about, and what it was read from. */
const known = new WeakMap<VerifyReport, Parsed & { input: unknown }>();

/** Remembers, as long as the report lives, what it is about. @param input from which the bundle was read */
export function rememberParsed(report: VerifyReport, input: unknown, { bundle, note }: Parsed): void {
  known.set(report, { input, bundle, note });
}

/** What a report is about, read again only from another input than that of the report. @throws ProofError as `parseBundle` */
export function parsedOf(report: VerifyReport, input: unknown): Parsed {
  const found = known.get(report);
  if (found !== undefined && found.input === input) return found;
  const bundle = parseBundle(input);
  return { bundle, note: noteOf(bundle) };
}

/** The note of a bundle, or of a batch's head; undefined when it is malformed. */
export function noteOf(bundle: Bundle | BatchHead): Note | undefined {
  return attempt("format", () => parseNote(signedPart(bundle).attest.note));
}

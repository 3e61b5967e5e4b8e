import { FileRefusal, readRegularFile } from "../lib/regular-file.ts";

/** A seed, a mnemonic, a token or a key in PEM. */
const MAX_BYTES = 64 * 1024;

/** Reads a secret's file, without the white space around it. @throws RangeError a predicate, when there is nothing to read */
export function readSecretFile(path: string): string {
  let text: string;
  try {
    text = readRegularFile(path, { maxBytes: MAX_BYTES }).bytes.toString().trim();
  } catch (error) {
    const why = error instanceof FileRefusal ? error.message.replace(/\.$/, "") : (error as NodeJS.ErrnoException).code;
    throw new RangeError(`cannot be read: ${why ?? "unknown error"}`);
  }
  if (text === "") throw new RangeError("is empty");
  return text;
}

import { readFileSync } from "node:fs";

/** Reads a secret's file, without the white space around it. @throws RangeError a predicate, when there is nothing to read */
export function readSecretFile(path: string): string {
  let text: string;
  try {
    text = readFileSync(path, "utf8").trim();
  } catch (error) {
    throw new RangeError(`cannot be read: ${(error as NodeJS.ErrnoException).code ?? "unknown error"}`);
  }
  if (text === "") throw new RangeError("names an empty file");
  return text;
}

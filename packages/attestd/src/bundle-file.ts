import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import type { JsonError } from "@attestd/proof";
import { type BundleInFile, LARGEST_BUNDLE, LARGEST_FILE, readFileContents } from "@attestd/web/bundle-file";
import { fileTrouble } from "./failure.ts";
import type { Input } from "./terminal.ts";

/** Why something cannot be judged at all: a sentence for people. */
export class Unreadable extends Error {}

/**
 * Reads what may be a bundle, or a certificate that carries one.
 *
 * @param name a path, or `-` for standard input
 * @param stdin asked for only then
 * @returns with UTF-8 of JSON that has at least one part of a bundle, and the whole file beside it
 * @throws Unreadable; JsonError for what is no JSON
 */
export async function readBundle(name: string, stdin: () => Input): Promise<BundleInFile & { file: Uint8Array }> {
  const file = await readBytes(name === "-" ? stdin() : name);
  const contents = await readFileContents(file);
  if (contents.kind === "bundle") return { ...contents, file };
  if (contents.kind === "empty_certificate") throw new Unreadable("This certificate carries no bundle.");
  throw new Unreadable("Not an attestd bundle.");
}

/** What `verify` throws for a text that it cannot read, as a sentence. */
export function notJson(error: JsonError): Unreadable {
  if (error.code === "too_large")
    return new Unreadable(`More than ${LARGEST_BUNDLE / 2 ** 20} MiB; bundles are smaller.`);
  return new Unreadable(error.code === "syntax" ? `Not JSON (line ${error.line}).` : `Not JSON: ${error.message}.`);
}

async function readBytes(from: string | Input): Promise<Buffer> {
  try {
    if (typeof from === "string") tooLarge((await stat(from)).size);
    const chunks: Buffer[] = [];
    let size = 0;
    for await (const chunk of typeof from === "string" ? createReadStream(from) : from) {
      chunks.push(Buffer.from(chunk));
      size += chunk.length;
      tooLarge(size);
    }
    return Buffer.concat(chunks);
  } catch (error) {
    throw error instanceof Unreadable ? error : new Unreadable(fileTrouble(error));
  }
}

function tooLarge(size: number): void {
  if (size > LARGEST_FILE) throw new Unreadable(`${(size / 1e6).toFixed(1)} MB or more; bundles are smaller.`);
}

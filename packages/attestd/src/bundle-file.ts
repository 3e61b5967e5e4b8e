import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { MAX_BUNDLE_BYTES, type ProofError } from "@attestd/proof";
import { type BundleInFile, MAX_FILE_BYTES, readFileContents } from "@attestd/web/bundle-file";
import { EXIT, Failure, fileTrouble } from "./failure.ts";
import type { Input } from "./terminal.ts";

/** A bundle, and the whole file that contains it. */
export type BundleFile = BundleInFile & { file: Uint8Array };

/**
 * Reads a file that may be a bundle, or a certificate that contains one.
 *
 * @param name a path, or `-` for standard input
 * @param stdin called only for `-`
 * @returns UTF-8 of JSON that has at least one part of a bundle, and the whole file
 * @throws Failure `unreadable`; ProofError `json` for a text that is not JSON
 */
export async function readBundle(name: string, stdin: () => Input): Promise<BundleFile> {
  const file = await readBytes(name === "-" ? stdin() : name);
  const contents = await readFileContents(file);
  if (contents.kind === "bundle") return { ...contents, file };
  if (contents.kind === "empty_certificate") throw unreadable("This certificate carries no bundle.");
  throw unreadable("Not an attestd bundle.");
}

/** A sentence about a text that is not JSON. */
export function notJson(error: ProofError): string {
  if (error.fault === "too_large") return `More than ${MAX_BUNDLE_BYTES / 2 ** 20} MiB; bundles are smaller.`;
  return error.fault === "syntax" ? `Not JSON (line ${error.line}).` : `Not JSON: ${error.message}.`;
}

function unreadable(why: string): Failure {
  return new Failure(EXIT.unreadable, why);
}

async function readBytes(from: string | Input): Promise<Buffer> {
  try {
    if (typeof from === "string") requireSize((await stat(from)).size);
    const chunks: Buffer[] = [];
    let size = 0;
    for await (const chunk of typeof from === "string" ? createReadStream(from) : from) {
      chunks.push(Buffer.from(chunk));
      size += chunk.length;
      requireSize(size);
    }
    return Buffer.concat(chunks);
  } catch (error) {
    throw error instanceof Failure ? error : unreadable(fileTrouble(error));
  }
}

function requireSize(size: number): void {
  if (size > MAX_FILE_BYTES) throw unreadable(`${(size / 1e6).toFixed(1)} MB or more; bundles are smaller.`);
}

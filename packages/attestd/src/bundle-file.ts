import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import type { JsonError } from "@attestd/proof";
import { fileTrouble } from "./failure.ts";

/** A bundle has at most 2 MiB (the service's own limit). */
const LARGEST = 2 ** 21;

/** Why something cannot be judged at all: a sentence for people. */
export class Unreadable extends Error {}

/**
 * Reads what may be a bundle.
 *
 * @param name a path, or `-` for standard input
 * @returns UTF-8 of JSON that has at least one part of a bundle
 * @throws Unreadable
 */
export async function readBundle(name: string): Promise<Uint8Array> {
  const bytes = await readBytes(name);
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString("utf8"));
  } catch {
    return bytes; // The verifier's own parser names the line.
  }
  const parts = ["source", "block", "attest", "attestor", "signature"];
  if (typeof value === "object" && value !== null && parts.some((part) => Object.hasOwn(value, part))) return bytes;
  throw new Unreadable("Not an attestd bundle.");
}

/** What `verify` throws for a text that it cannot read, as a sentence. */
export function notJson(error: JsonError): Unreadable {
  return new Unreadable(error.code === "syntax" ? `Not JSON (line ${error.line}).` : `Not JSON: ${error.message}.`);
}

async function readBytes(name: string): Promise<Buffer> {
  try {
    if (name !== "-") tooLarge((await stat(name)).size);
    const chunks: Buffer[] = [];
    let size = 0;
    for await (const chunk of name === "-" ? process.stdin : createReadStream(name)) {
      chunks.push(chunk);
      size += chunk.length;
      tooLarge(size);
    }
    return Buffer.concat(chunks);
  } catch (error) {
    throw error instanceof Unreadable ? error : new Unreadable(fileTrouble(error));
  }
}

function tooLarge(size: number): void {
  if (size > LARGEST) throw new Unreadable(`${(size / 1e6).toFixed(1)} MB or more; bundles are smaller.`);
}

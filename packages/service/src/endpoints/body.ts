import type { IncomingMessage } from "node:http";
import { Problem } from "../problems.ts";

/**
 * Reads a body up to a hard cap, whatever its length header says.
 *
 * @param cap in bytes
 * @throws Problem `body_too_large`; Error when the client disconnects
 */
export async function readBody(incoming: IncomingMessage, cap: number): Promise<Uint8Array> {
  if (Number(incoming.headers["content-length"] ?? 0) > cap) throw tooLarge(cap);
  const chunks: Buffer[] = [];
  let size = 0;
  // A stream that is destroyed here would close the connection before the answer.
  for await (const chunk of incoming.iterator({ destroyOnReturn: false })) {
    size += chunk.length;
    if (size > cap) throw tooLarge(cap);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, size);
}

function tooLarge(cap: number): Problem {
  return new Problem("body_too_large", `The body is larger than ${cap} bytes.`);
}

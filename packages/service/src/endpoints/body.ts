import type { IncomingMessage } from "node:http";
import { Problem } from "../problems.ts";

/**
 * Reads a body up to a hard cap, whatever its length header says.
 *
 * @param cap in bytes
 * @throws Problem `body_too_large`; the error of `incoming` when the client hangs up
 */
export function readBody(incoming: IncomingMessage, cap: number): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    if (incoming.errored) return reject(incoming.errored);
    if (Number(incoming.headers["content-length"] ?? 0) > cap) return reject(tooLarge(cap));
    const chunks: Buffer[] = [];
    let size = 0;
    incoming.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size <= cap) return void chunks.push(chunk);
      incoming.removeAllListeners("data").pause();
      reject(tooLarge(cap));
    });
    incoming.on("end", () => resolve(Buffer.concat(chunks, size)));
    incoming.on("error", reject);
  });
}

function tooLarge(cap: number): Problem {
  return new Problem("body_too_large", `The body is larger than ${cap} bytes.`);
}

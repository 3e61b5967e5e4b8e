import type { IncomingMessage } from "node:http";
import { requireJson } from "../../catalogue/input.ts";
import { Problem } from "../../lib/problems.ts";
import { MAX_MESSAGE_BYTES, type MessageForm, type MessageRead, type ReadMessage } from "./messages.ts";

/**
 * Reads a body up to a hard cap, whatever Content-Length states.
 * @param cap in bytes
 * @throws Problem `body_too_large`; the error of `incoming` when the client disconnects
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

/** A message within its limits, or why the body is not JSON. */
export type Received = Exclude<MessageRead, { tooLarge: string }>;

/** Reads the message in the body of an agent's request. @throws Problem `media_type`, `body_too_large`, `over_capacity` */
export async function receiveMessage(
  incoming: IncomingMessage,
  form: MessageForm,
  readMessage: ReadMessage,
): Promise<Received> {
  requireJson(incoming.headers);
  const read = await readMessage(await readBody(incoming, MAX_MESSAGE_BYTES), form);
  if ("tooLarge" in read) throw new Problem("body_too_large", read.tooLarge);
  return read;
}

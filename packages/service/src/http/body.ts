import type { IncomingMessage } from "node:http";
import { Problem } from "../problems.ts";

/**
 * Reads a body up to a hard cap, whatever its length header says, without the web stream between (which costs 40 %).
 *
 * @throws Problem `body_too_large`
 */
export async function readBody(incoming: IncomingMessage, cap: number): Promise<Uint8Array> {
  if (Number(incoming.headers["content-length"] ?? 0) > cap) throw tooLarge(cap);
  const chunks: Buffer[] = [];
  let size = 0;
  return new Promise((resolve, reject) => {
    const stop = () => incoming.off("data", onData).off("end", onEnd).off("error", onClose).off("close", onClose);
    const onData = (chunk: Buffer) => {
      size += chunk.length;
      if (size <= cap) return void chunks.push(chunk);
      stop();
      incoming.pause();
      reject(tooLarge(cap));
    };
    const onEnd = () => {
      stop();
      resolve(Buffer.concat(chunks, size));
    };
    const onClose = () => {
      stop();
      reject(incoming.errored ?? new Error("the client went away"));
    };
    incoming.on("data", onData).on("end", onEnd).on("error", onClose).on("close", onClose);
  });
}

function tooLarge(cap: number): Problem {
  return new Problem("body_too_large", `The body is larger than ${cap} bytes.`);
}

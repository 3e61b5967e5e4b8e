import { itemTexts } from "../subjects/batch-answer.ts";
import type { CompleteAnswer } from "./cors.ts";

/** The media type of JSON values, one a line. */
export const NDJSON = "application/x-ndjson";
/** Bytes of a piece that is handed to the connection: an answer is not held twice. */
const PIECE_BYTES = 64 * 1024;

/** Whether a request asks for lines: it names them, and does not name JSON before. */
export function wantsLines(accept: string | undefined): boolean {
  if (accept === undefined) return false;
  const types = accept.split(",").map((one) => one.split(";", 1)[0]?.trim().toLowerCase());
  const [lines, json] = [types.indexOf(NDJSON), types.indexOf("application/json")];
  return lines !== -1 && (json === -1 || lines < json);
}

/** The delivered answer of a batch as lines: each item with the head, as a bundle that needs no other. */
export function asLines({ headers, body, ...rest }: CompleteAnswer): CompleteAnswer {
  const { "content-length": _, ...kept } = headers;
  const { buffer, byteOffset, length } = body as Uint8Array<ArrayBuffer>;
  const texts = itemTexts(Buffer.from(buffer, byteOffset, length).toString("latin1"));
  const lines = new ReadableStream<Uint8Array>({
    pull(controller) {
      let piece = "";
      while (piece.length < PIECE_BYTES) {
        const { done, value } = texts.next();
        if (done) break;
        piece += `${value}\n`;
      }
      if (piece === "") controller.close();
      else controller.enqueue(Buffer.from(piece, "latin1"));
    },
  });
  return { ...rest, headers: { ...kept, "content-type": NDJSON, vary: "accept" }, body: lines, holds: length };
}

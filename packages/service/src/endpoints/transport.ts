import { requireJson } from "../catalogue/input.ts";
import { Problem } from "../problems.ts";
import { MESSAGE_BYTES, type MessageForm, type MessageRead, type ReadMessage } from "./messages.ts";

/**
 * A protocol of agents on one path of its own: it translates between that protocol and `operations`, and decides
 * nothing. It reads the request's body itself, and holds it to a limit.
 */
export type Door = {
  path: string;
  methods: readonly string[];
  handle(request: Request): Response | Promise<Response>;
};

/** A message that is small enough, or why it is none. */
export type Received = Exclude<MessageRead, { tooLarge: string }>;

/** Receives the message of a door's request. @throws Problem `media_type`, `body_too_large`, `over_capacity` */
export async function receive(request: Request, form: MessageForm, readMessage: ReadMessage): Promise<Received> {
  requireJson(request.headers.get("content-type"), request.headers.get("content-encoding"));
  const read = await readMessage(await readBody(request, MESSAGE_BYTES), form);
  if ("tooLarge" in read) throw new Problem("body_too_large", read.tooLarge);
  return read;
}

/** Reads a body up to a hard cap, whatever its length header says. @throws Problem `body_too_large` */
async function readBody(request: Request, cap: number): Promise<Uint8Array> {
  const { headers } = request;
  if (Number(headers.get("content-length")) > cap) throw tooLarge(cap);
  if (headers.has("content-length")) {
    // Without the web stream between, which for a large body holds up the event loop. Node reads no more than that many.
    const bytes = new Uint8Array(await request.arrayBuffer());
    if (bytes.length > cap) throw tooLarge(cap);
    return bytes;
  }
  const { body } = request;
  if (body === null) return new Uint8Array();
  const chunks: Uint8Array[] = [];
  let size = 0;
  // Not `for await`, which cancels the stream when it is left early, and the answer with it.
  const reader = body.getReader();
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    size += read.value.length;
    if (size > cap) throw tooLarge(cap);
    chunks.push(read.value);
  }
  return Buffer.concat(chunks, size);
}

function tooLarge(cap: number): Problem {
  return new Problem("body_too_large", `The body is larger than ${cap} bytes.`);
}

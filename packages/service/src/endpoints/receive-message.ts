import type { IncomingMessage } from "node:http";
import { requireJson } from "../catalogue/input.ts";
import { Problem } from "../problems.ts";
import { readBody } from "./body.ts";
import { MAX_MESSAGE_BYTES, type MessageForm, type MessageRead, type ReadMessage } from "./messages.ts";

/** A message within its limits, or why the body is not JSON. */
export type Received = Exclude<MessageRead, { tooLarge: string }>;

/** Reads the message in the body of an agent's request. @throws Problem `media_type`, `body_too_large`, `over_capacity` */
export async function receiveMessage(
  incoming: IncomingMessage,
  form: MessageForm,
  readMessage: ReadMessage,
): Promise<Received> {
  requireJson(incoming.headers["content-type"], incoming.headers["content-encoding"]);
  const read = await readMessage(await readBody(incoming, MAX_MESSAGE_BYTES), form);
  if ("tooLarge" in read) throw new Problem("body_too_large", read.tooLarge);
  return read;
}

import { ALGORAND_ID, encodeMsgpack, isAlgorandAddress, type MsgpackMap } from "@attestd/proof/algorand";
import type { Context } from "hono";
import { apiError, indentedJson, msgpack, pathInteger } from "./http.ts";
import { algodJson } from "./json.ts";

/* Reads what a request to algod names in its path and query, and the requested format. */

export function roundIn(c: Context): number {
  return pathInteger("round", c.req.param("round") ?? "");
}

export function transactionId(c: Context): string {
  const id = c.req.param("txid") ?? "";
  if (!ALGORAND_ID.pattern.test(id)) throw apiError(400, "no valid transaction ID was specified");
  return id;
}

export function address(c: Context): string {
  const text = c.req.param("address") ?? "";
  if (isAlgorandAddress(text)) return text;
  const trouble = /^[A-Z2-7]{52,}$/.test(text)
    ? `address ${text} is malformed, checksum verification failed`
    : /^[A-Z2-7]*$/.test(text)
      ? `decoded bad addr: ${text}`
      : `failed to decode address ${text} from base 32`;
  throw apiError(
    400,
    `Invalid format for parameter address: error unmarshaling '${text}' text as *basics.Address: ${trouble}`,
  );
}

/** Returns the value in the requested format: msgpack, or JSON by default. */
export function answer(c: Context, value: MsgpackMap): Response {
  return wantsMsgpack(c) ? msgpack(encodeMsgpack(value)) : indentedJson(algodJson(value));
}

export function wantsMsgpack(c: Context): boolean {
  const format = c.req.query("format") ?? "json";
  if (format === "msgpack" || format === "msgp") return true;
  if (format === "json") return false;
  throw apiError(400, "failed to parse the format option");
}

import { equalBytes } from "../encoding.ts";
import { decodeMsgpack } from "./msgpack-reader.ts";
import { encodeMsgpack } from "./msgpack-writer.ts";

export { decodeMsgpack, decodeMsgpackMap, decodeMsgpackSequence } from "./msgpack-reader.ts";
export {
  getBytes,
  getInteger,
  getMap,
  getString,
  isEmpty,
  type MsgpackKey,
  type MsgpackMap,
  type MsgpackValue,
  RawString,
  structMap,
} from "./msgpack-value.ts";
export { encodeMsgpack } from "./msgpack-writer.ts";

/** Whether the bytes are one value in its canonical encoding. Never throws. */
export function isCanonicalMsgpack(bytes: Uint8Array): boolean {
  try {
    return equalBytes(encodeMsgpack(decodeMsgpack(bytes)), bytes);
  } catch {
    return false;
  }
}

export { canonicalBytes, canonicalize } from "./canonical.ts";
export {
  childPointer,
  type JsonLimits,
  type JsonObject,
  type JsonValue,
  MAX_JSON_BYTES,
  MAX_JSON_DEPTH,
  MAX_JSON_MEMBERS,
  parseJson,
} from "./parse.ts";

import { getInteger, type MsgpackMap, RawString } from "@attestd/proof/algorand";
import { toBase64, utf8 } from "@attestd/proof/encoding";
import type { Json } from "../json.ts";
import { getAddress } from "./transaction.ts";

/**
 * An asset's parameters in the JSON of algod and the indexer. Text is given as base64 of its bytes and, if printable, as
 * text too.
 * @param parameters `apar`
 */
export function assetParamsJson(creator: string, parameters: MsgpackMap): { [name: string]: Json | undefined } {
  const metadataHash = parameters.get("am");
  return {
    clawback: getAddress(parameters, "c"),
    creator,
    decimals: getInteger(parameters, "dc"),
    "default-frozen": parameters.get("df") === true,
    freeze: getAddress(parameters, "f"),
    manager: getAddress(parameters, "m"),
    "metadata-hash": metadataHash instanceof Uint8Array ? toBase64(metadataHash) : undefined,
    ...textJson("name", parameters.get("an")),
    reserve: getAddress(parameters, "r"),
    total: getInteger(parameters, "t"),
    ...textJson("unit-name", parameters.get("un")),
    ...textJson("url", parameters.get("au")),
  };
}

function textJson(name: string, value: unknown): { [name: string]: string } {
  if (value instanceof RawString) return { [`${name}-b64`]: toBase64(value.bytes) };
  if (typeof value !== "string") return {};
  const printable = !/\p{C}/u.test(value);
  return { ...(printable ? { [name]: value } : {}), [`${name}-b64`]: toBase64(utf8(value)) };
}

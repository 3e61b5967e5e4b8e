import { getInteger, type MsgpackMap, RawString } from "@attestd/proof/algorand";
import { toBase64, utf8 } from "@attestd/proof/encoding";
import type { JsonObject } from "../json.ts";
import type { Ledger } from "./ledger.ts";
import { type Asset, type Holding, minBalance } from "./state.ts";
import { getAddress } from "./transaction.ts";

/**
 * Returns an account in algod's JSON; the indexer's has a few more members.
 * @param round the server's latest
 */
export function accountJson(ledger: Ledger, address: string, round: number): JsonObject {
  const account = ledger.state.account(address);
  const created = ledger.state.createdAssets(address);
  return {
    address,
    amount: account.balance,
    "amount-without-pending-rewards": account.balance,
    "apps-local-state": [],
    "apps-total-schema": { "num-byte-slice": 0, "num-uint": 0 },
    assets: [...account.holdings].map(([id, holding]) => holdingJson(id, holding)),
    "auth-addr": account.authAddress,
    "created-apps": [],
    "created-assets": created.map(([index, asset]) => assetJson(index, asset)),
    "min-balance": minBalance(account),
    "pending-rewards": 0,
    "reward-base": 0,
    rewards: 0,
    round,
    status: "Offline",
    "total-apps-opted-in": 0,
    "total-assets-opted-in": account.holdings.size,
    "total-created-apps": 0,
    "total-created-assets": created.length,
  };
}

/** An account's holding of an asset in algod's JSON. */
export function holdingJson(id: bigint, { amount, frozen }: Holding): JsonObject {
  return { amount, "asset-id": id, "is-frozen": frozen };
}

/** An asset in the JSON of algod and the indexer. */
export function assetJson(index: bigint, { creator, parameters }: Asset): JsonObject {
  return { index, params: assetParamsJson(creator, parameters) };
}

/**
 * An asset's parameters in the JSON of algod and the indexer. Text is given as base64 of its bytes and, if printable, as
 * text too.
 * @param parameters `apar`
 */
export function assetParamsJson(creator: string, parameters: MsgpackMap): JsonObject {
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

function textJson(name: string, value: unknown): JsonObject {
  if (value instanceof RawString) return { [`${name}-b64`]: toBase64(value.bytes) };
  if (typeof value !== "string") return {};
  const printable = !/\p{C}/u.test(value);
  return { ...(printable ? { [name]: value } : {}), [`${name}-b64`]: toBase64(utf8(value)) };
}

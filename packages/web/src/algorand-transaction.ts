import { ALGORAND_MAINNET } from "@attestd/proof";
import {
  algorandCaip2,
  decodeTransaction,
  encodeAddress,
  getBytes,
  getInteger,
  getString,
  type MsgpackMap,
  type MsgpackValue,
  RawString,
} from "@attestd/proof/algorand";
import { fromUtf8, toBase64, toHex } from "@attestd/proof/encoding";
import { isUsdc, RAILS } from "@attestd/proof/rails";
import type { Description } from "./display.ts";
import { formatMicro } from "./display.ts";

/** Names for people of the transaction types (go-algorand, `protocol/txntype.go`). */
const ACTIONS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    pay: "ALGO payment",
    axfer: "Asset transfer",
    acfg: "Asset configuration",
    afrz: "Asset freeze",
    keyreg: "Key registration",
    appl: "Application call",
    stpf: "State proof",
    hb: "Heartbeat",
  }),
);

/** Members by their codec names (go-algorand, `data/transactions`), in the order of display. */
const LABELS: ReadonlyMap<string, string> = new Map([
  ["snd", "Sender"],
  ["rcv", "Receiver"],
  ["arcv", "Receiver"],
  ["asnd", "Taken from"],
  ["amt", "Amount"],
  ["aamt", "Amount"],
  ["xaid", "Asset"],
  ["close", "Rest of the account goes to"],
  ["aclose", "Rest of the asset goes to"],
  ["rekey", "Account handed to"],
  ["fadd", "Frozen account"],
  ["faid", "Asset"],
  ["afrz", "Frozen"],
  ["caid", "Asset"],
  ["apid", "Application"],
  ["apan", "On completion"],
  ["fee", "Fee"],
  ["fv", "Valid from round"],
  ["lv", "Valid to round"],
  ["gen", "Network"],
  ["gh", "Genesis hash"],
  ["grp", "Group"],
  ["lx", "Lease"],
  ["note", "Note"],
]);
const ADDRESSES = new Set(["snd", "rcv", "arcv", "asnd", "close", "aclose", "rekey", "fadd"]);
const MICRO_ALGOS = new Set(["amt", "fee"]);

/** @param bytes canonical msgpack of the unsigned transaction. @throws DecodeError */
export function describeAlgorandTransaction(bytes: Uint8Array): Description {
  const transaction = decodeTransaction(bytes);
  const type = getString(transaction, "type") ?? "";
  const known = [...LABELS.keys()].filter((name) => transaction.has(name));
  const names = new Set([...known, ...[...transaction.keys()].map(String)]);
  const fields = [...names].map((name) => ({
    label: LABELS.get(name) ?? name,
    value: show(name, transaction.get(name) ?? null),
  }));
  const action = ACTIONS.get(type) ?? `Transaction of type ${type}`;
  if (type === "pay") return { action, amount: `${formatMicro(getInteger(transaction, "amt"))} ALGO`, fields };
  return type === "axfer" ? { action, ...assetTransfer(transaction), fields } : { action, fields };
}

function assetTransfer(transaction: MsgpackMap): Partial<Description> {
  const asset = getInteger(transaction, "xaid");
  const units = getInteger(transaction, "aamt");
  if (isUsdc(RAILS.algorand, String(asset)) && isMainNet(transaction))
    return { action: "USDC transfer", amount: `${formatMicro(units)} USDC` };
  // The number of decimals of another asset is on the ledger, not in the transaction.
  return { amount: `${units} units of asset ${asset}` };
}

function isMainNet(transaction: MsgpackMap): boolean {
  const genesisHash = getBytes(transaction, "gh", 32);
  return genesisHash !== undefined && algorandCaip2(genesisHash) === ALGORAND_MAINNET;
}

function show(name: string, value: MsgpackValue): string {
  if (value instanceof Uint8Array) {
    if (ADDRESSES.has(name) && value.length === 32) return encodeAddress(value);
    return name === "note" ? textOrHex(value) : toBase64(value);
  }
  if (value instanceof RawString) return toHex(value.bytes);
  if (MICRO_ALGOS.has(name) && (typeof value === "number" || typeof value === "bigint"))
    return `${formatMicro(BigInt(value))} ALGO`;
  if (Array.isArray(value)) return value.map((item) => show("", item)).join(", ");
  if (value instanceof Map) return [...value].map(([key, member]) => `${String(key)}: ${show("", member)}`).join("; ");
  return String(value);
}

function textOrHex(bytes: Uint8Array): string {
  try {
    return fromUtf8(bytes);
  } catch {
    return toHex(bytes);
  }
}

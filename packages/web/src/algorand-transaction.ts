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
import { formatUnits, formatUsdcAmount } from "./amount.ts";
import type { Description, Field } from "./fields.ts";

/** Names for people of the transaction types (go-algorand, `protocol/txntype.go`). */
const ACTIONS: Record<string, string> = {
  pay: "ALGO payment",
  axfer: "Asset transfer",
  acfg: "Asset configuration",
  afrz: "Asset freeze",
  keyreg: "Key registration",
  appl: "Application call",
  stpf: "State proof",
  hb: "Heartbeat",
};

/** Members by their codec names (go-algorand, `data/transactions`), in the order of display. */
const LABELS: readonly [name: string, label: string][] = [
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
];
const ADDRESSES = new Set(["snd", "rcv", "arcv", "asnd", "close", "aclose", "rekey", "fadd"]);
const MICRO_ALGOS = new Set(["amt", "fee"]);

/** @param bytes canonical msgpack of the unsigned transaction. @throws DecodeError */
export function describeAlgorandTransaction(bytes: Uint8Array): Description {
  const transaction = decodeTransaction(bytes);
  const type = getString(transaction, "type") ?? "";
  const known = LABELS.filter(([name]) => transaction.has(name));
  const others = [...transaction.keys()].map(String).filter((name) => !LABELS.some(([label]) => label === name));
  const fields: Field[] = [
    ...known.map(([name, label]) => ({ label, value: show(name, transaction.get(name) ?? null) })),
    ...others.map((name) => ({ label: name, value: show(name, transaction.get(name) ?? null) })),
  ];
  if (type === "pay") {
    const amount = `${formatUnits(getInteger(transaction, "amt"), 6, 2)} ALGO`;
    return { action: "ALGO payment", amount, fields };
  }
  if (type === "axfer") return { ...assetTransfer(transaction), fields };
  return { action: ACTIONS[type] ?? `Transaction of type ${type}`, fields };
}

function assetTransfer(transaction: MsgpackMap): Omit<Description, "fields"> {
  const asset = getInteger(transaction, "xaid");
  const units = getInteger(transaction, "aamt");
  if (isUsdc(RAILS.algorand, String(asset)) && isMainNet(transaction))
    return { action: "USDC transfer", amount: `${formatUsdcAmount(units)} USDC` };
  // The number of decimals of another asset is on the ledger, not in the transaction.
  return { action: "Asset transfer", amount: `${units} units of asset ${asset}` };
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
    return `${formatUnits(BigInt(value), 6, 2)} ALGO`;
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

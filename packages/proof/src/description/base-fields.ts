import { type BaseTransaction, decodeQuantity, type RlpItem } from "../base/index.ts";
import { toHex } from "../encoding.ts";
import { groupedUnits } from "../text.ts";
import type { Field } from "./description.ts";

const ETHER = new Set(["value", "mint"]);
const WEI = new Set(["gasPrice", "maxFeePerGas", "maxPriorityFeePerGas", "maxFeePerBlobGas"]);
const QUANTITIES = new Set(["chainId", "nonce", "gas", "v", "yParity", "isSystemTx"]);
const LABELS: Readonly<Record<string, string>> = {
  to: "To",
  from: "From",
  value: "Value",
  mint: "Minted",
  nonce: "Nonce",
  chainId: "Chain id",
  gas: "Gas limit",
  gasPrice: "Gas price",
  maxFeePerGas: "Most per gas",
  maxPriorityFeePerGas: "Most tip per gas",
  maxFeePerBlobGas: "Most per blob gas",
  blobVersionedHashes: "Blobs",
  data: "Data",
  accessList: "Access list",
  authorizationList: "Code delegations",
  sourceHash: "Deposit",
  isSystemTx: "System transaction",
  yParity: "Signature, parity",
  v: "Signature, v",
  r: "Signature, r",
  s: "Signature, s",
};
const TYPES: Readonly<Record<number, string>> = {
  0: "legacy",
  1: "access list (EIP-2930)",
  2: "dynamic fee (EIP-1559)",
  3: "blob (EIP-4844)",
  4: "set code (EIP-7702)",
  126: "deposit (OP Stack)",
};

/** Returns every member of a transaction in order, after its type. */
export function baseFields({ type, fields }: BaseTransaction): Field[] {
  const members = [...(fields ?? [])].map(([name, item]) => ({ label: LABELS[name] ?? name, value: show(name, item) }));
  return [{ label: "Type", value: TYPES[type] ?? `0x${type.toString(16)}` }, ...members];
}

function show(name: string, item: RlpItem): string {
  if (Array.isArray(item))
    return item.length === 0 ? "none" : `${item.length} ${item.length === 1 ? "entry" : "entries"}`;
  if (ETHER.has(name)) return `${groupedUnits(decodeQuantity(item), 18)} ETH`;
  if (WEI.has(name)) return `${groupedUnits(decodeQuantity(item), 9)} gwei`;
  if (QUANTITIES.has(name)) return decodeQuantity(item).toString();
  return item.length === 0 ? "none" : `0x${toHex(item)}`;
}

import { type BaseTransaction, decodeBaseTransaction, type RlpItem } from "@attestd/proof/base";
import { toHex } from "@attestd/proof/encoding";
import { isUsdc, RAILS } from "@attestd/proof/rails";
import type { Description, Field } from "./display.ts";
import { formatMicro, formatUnits } from "./display.ts";

/** Calls that move a token (ERC-20, EIP-3009), by selector: the index of each argument's word, and their number. */
const TRANSFERS: Readonly<Record<string, { from?: number; to: number; units: number; words: number }>> = {
  // transfer(address to, uint256 value)
  a9059cbb: { to: 0, units: 1, words: 2 },
  // transferFrom(address from, address to, uint256 value)
  "23b872dd": { from: 0, to: 1, units: 2, words: 3 },
  // transferWithAuthorization(from, to, value, validAfter, validBefore, nonce, v, r, s)
  e3ee160e: { from: 0, to: 1, units: 2, words: 9 },
  // transferWithAuthorization(from, to, value, validAfter, validBefore, nonce, bytes signature)
  cf092995: { from: 0, to: 1, units: 2, words: 6 },
};

const ETHER = new Set(["value", "mint"]);
const WEI = new Set(["gasPrice", "maxFeePerGas", "maxPriorityFeePerGas"]);
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
  data: "Data",
  sourceHash: "Deposit",
};
const NAMES: Readonly<Record<number, string>> = {
  0: "legacy",
  1: "access list (EIP-2930)",
  2: "dynamic fee (EIP-1559)",
  4: "set code (EIP-7702)",
  126: "deposit (OP Stack)",
};

/** @param bytes EIP-2718. @throws DecodeError */
export function describeBaseTransaction(bytes: Uint8Array): Description {
  const transaction = decodeBaseTransaction(bytes);
  const { type, fields } = transaction;
  const typeField = { label: "Type", value: NAMES[type] ?? `0x${type.toString(16)}` };
  if (fields === undefined) return { action: `Transaction of type 0x${type.toString(16)}`, fields: [typeField] };
  const { fields: moved = [], ...what } = act(transaction);
  const members = [...fields].map(([name, item]) => ({ label: LABELS[name] ?? name, value: show(name, item) }));
  return { ...what, fields: [...moved, typeField, ...members] };
}

function act({ type, fields }: BaseTransaction): Omit<Description, "fields"> & { fields?: Field[] } {
  const to = hex(fields?.get("to"));
  const data = hex(fields?.get("data")).slice(2);
  const value = BigInt(hex(fields?.get("value")).padEnd(3, "0"));
  if (type === 0x7e) return { action: "Deposit from Ethereum" };
  if (to === "0x") return { action: "Contract creation" };
  const transfer = TRANSFERS[data.slice(0, 8)];
  if (transfer !== undefined && value === 0n && data.length >= 8 + transfer.words * 64) {
    const word = (index: number) => data.slice(8 + index * 64, 8 + (index + 1) * 64);
    const address = (index: number) => `0x${word(index).slice(24)}`;
    const units = BigInt(`0x${word(transfer.units)}`);
    const movesUsdc = isUsdc(RAILS.base, to);
    return {
      action: movesUsdc ? "USDC transfer" : "Token transfer",
      amount: movesUsdc ? `${formatMicro(units)} USDC` : `${units} units of ${to}`,
      fields: [
        ...(transfer.from === undefined ? [] : [{ label: "Token's sender", value: address(transfer.from) }]),
        { label: "Token's receiver", value: address(transfer.to) },
      ],
    };
  }
  if (data === "") return { action: "ETH transfer", amount: `${formatUnits(value, 18)} ETH` };
  return { action: "Contract call" };
}

function show(name: string, item: RlpItem): string {
  if (Array.isArray(item)) return item.length === 0 ? "none" : `${item.length} entries`;
  const digits = hex(item);
  const quantity = () => BigInt(digits === "0x" ? "0x0" : digits);
  if (ETHER.has(name)) return `${formatUnits(quantity(), 18)} ETH`;
  if (WEI.has(name)) return `${formatUnits(quantity(), 9)} gwei`;
  if (QUANTITIES.has(name)) return quantity().toString();
  return digits === "0x" ? "none" : digits;
}

function hex(item: RlpItem | undefined): string {
  return item instanceof Uint8Array ? `0x${toHex(item)}` : "0x";
}

import { matchTransactionId } from "@attestd/proof";
import { EXIT, Failure } from "./failure.ts";

/** Parses a block height. @throws Failure `usage` */
export function readHeight(text: string): number {
  const height = Number(text);
  if (/^(0|[1-9][0-9]{0,15})$/.test(text) && Number.isSafeInteger(height)) return height;
  throw new Failure(EXIT.usage, `the height of a block is a whole number, and is ${text}`);
}

/** Infers the chain of a transaction id. @throws Failure `usage` */
export function chainOf(txid: string): string {
  const matched = matchTransactionId(txid);
  if (matched !== undefined) return matched.chain.name;
  throw new Failure(EXIT.usage, `${txid} is no transaction id`, [
    "Algorand's have 52 characters, A to Z and 2 to 7; Base's are 0x and 64 hex digits.",
  ]);
}

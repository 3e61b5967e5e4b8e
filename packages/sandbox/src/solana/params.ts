import { type Address, getBase58Encoder, getBase64Encoder, isAddress } from "@solana/kit";
import { INVALID_PARAMS, RpcError } from "../jsonrpc.ts";
import type { Commitment } from "./ledger.ts";
import { type DecodedTransaction, decodeTransaction } from "./transaction.ts";

export type Config = Record<string, unknown>;

/** The last parameter when it is a configuration object, else an empty one. */
export function configOf(last: unknown): Config {
  return typeof last === "object" && last !== null && !Array.isArray(last) ? { ...last } : {};
}

/** The requested commitment; `finalized` by default, as on a validator. */
export function commitmentOf({ commitment = "finalized" }: Config): Commitment {
  if (commitment === "processed" || commitment === "confirmed" || commitment === "finalized") return commitment;
  throw new RpcError(INVALID_PARAMS, `Invalid params: unknown commitment ${String(commitment)}`);
}

/** @throws {RpcError} unless it is base58 of 32 bytes */
export function addressOf(value: unknown): Address {
  if (typeof value === "string" && isAddress(value)) return value;
  throw new RpcError(INVALID_PARAMS, "Invalid param: WrongSize");
}

/** @throws {RpcError} unless it is a list */
export function listOf(value: unknown): unknown[] {
  if (Array.isArray(value)) return value;
  throw new RpcError(INVALID_PARAMS, "Invalid params: expected a list");
}

/**
 * Decodes the transaction of sendTransaction or simulateTransaction: base58 by default, or base64.
 * @throws {RpcError} with the reason
 */
export function decodeWire(wire: unknown, { encoding = "base58" }: Config): DecodedTransaction {
  if (encoding !== "base58" && encoding !== "base64") throw unknownEncoding(encoding);
  try {
    const encoder = encoding === "base64" ? getBase64Encoder() : getBase58Encoder();
    return decodeTransaction(new Uint8Array(encoder.encode(String(wire))));
  } catch (error) {
    throw new RpcError(INVALID_PARAMS, `invalid transaction: ${(error as Error).message}`);
  }
}

export function unknownEncoding(encoding: unknown): RpcError {
  return new RpcError(INVALID_PARAMS, `Invalid params: the sandbox does not serve the encoding ${String(encoding)}`);
}

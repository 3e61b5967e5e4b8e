import { hash } from "node:crypto";
import { concatBytes, equalBytes, utf8 } from "@attestd/proof/encoding";
import { RAILS } from "@attestd/proof/rails";
import { base58 } from "@scure/base";
import type { Address } from "@solana/kit";
import { isOnCurve, solanaAddressBytes } from "../../../config/solana-address.ts";
import type { Outcome, SolanaRpc } from "../../../providers/solana-rpc.ts";

export const TOKEN_PROGRAM = "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA";
const MINT = bytesOf(RAILS.solana.usdc);
/** The seeds of an associated account after its owner, and what follows the bump. */
const SEEDS = concatBytes(bytesOf(TOKEN_PROGRAM), MINT);
const TAIL = concatBytes(bytesOf("ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL"), utf8("ProgramDerivedAddress"));

/**
 * Returns the address of an owner's associated USDC account: the first address off the curve that is derived from the
 * seeds (SPL Associated Token Account; program derived addresses).
 * @returns undefined when the owner is not an address
 */
export function usdcAccountOf(owner: string): Address | undefined {
  const ownerBytes = solanaAddressBytes(owner);
  if (!ownerBytes) return undefined;
  for (let bump = 255; bump >= 0; bump--) {
    const derived = hash("sha256", concatBytes(ownerBytes, SEEDS, Uint8Array.of(bump), TAIL), "buffer");
    if (!isOnCurve(derived)) return base58.encode(derived) as Address;
  }
  return undefined;
}

/** Decodes an address to 32 bytes. @throws TypeError when it is not one */
export function bytesOf(address: string): Uint8Array {
  const bytes = solanaAddressBytes(address);
  if (!bytes) throw new TypeError("not a Solana address");
  return bytes;
}

/** Layout of an account of the token program (SPL Token, `Account`): 165 bytes, the state at byte 108. */
const TOKEN_ACCOUNT = { length: 165, owner: 32, amount: 64, state: 108, frozen: 2 };

/** An account from the chain; undefined when there is none. */
type Account = Awaited<ReturnType<SolanaRpc["account"]>>;

/** Returns the USDC in an owner's account, in micro-USDC; undefined when the account cannot hold USDC for its owner. */
export function usdcHolding(account: Account, owner: string): bigint | undefined {
  if (account === undefined || usdcAccountFault(account, owner) !== undefined) return undefined;
  const { buffer, byteOffset } = account.data;
  return new DataView(buffer, byteOffset).getBigUint64(TOKEN_ACCOUNT.amount, true);
}

/** Returns why an account cannot receive USDC for its owner: a clause; undefined when it can. */
export function usdcAccountFault(account: Account, owner: string): string | undefined {
  const { length, owner: ownerAt, state, frozen } = TOKEN_ACCOUNT;
  const data = account?.data;
  if (account?.program !== TOKEN_PROGRAM || data?.length !== length || data[state] === 0) return "has no USDC account";
  const isUsdc = equalBytes(data.subarray(0, 32), MINT);
  if (!isUsdc || !equalBytes(data.subarray(ownerAt, ownerAt + 32), bytesOf(owner)))
    return "does not own its USDC account any more";
  return data[state] === frozen ? "has a USDC account that is frozen" : undefined;
}

/** Returns how much a token account's balance grew. @param place the account's index in the transaction */
export function growth({ preTokenBalances, postTokenBalances }: Outcome, place: number, token: string): bigint {
  const [before, after] = [preTokenBalances, postTokenBalances].map((balances) =>
    balances.find(({ accountIndex, mint }) => accountIndex === place && mint === token),
  );
  return (after?.uiTokenAmount.amount ?? 0n) - (before?.uiTokenAmount.amount ?? 0n);
}

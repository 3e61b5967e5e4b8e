import { RAILS, USDC_DECIMALS } from "@attestd/proof/rails";
import { formatUnits } from "@attestd/proof/text";
import { type Address, address, type EncodedAccount, type ReadonlyUint8Array } from "@solana/kit";
import {
  AccountState,
  findAssociatedTokenPda,
  getMintDecoder,
  getMintEncoder,
  getMintSize,
  getTokenDecoder,
  getTokenEncoder,
  getTokenSize,
  TOKEN_PROGRAM_ADDRESS,
  type Token,
} from "@solana-program/token";
import type { Machine } from "./machine.ts";

/** Circle's USDC mint on MainNet: stock x402 clients pay in it, and its accounts are derived from it. */
export const USDC_MINT = address(RAILS.solana.usdc);

/** Encodes the USDC mint account with that supply, in micro-USDC, with neither mint nor freeze authority. */
export function encodeMint(supply: bigint): ReadonlyUint8Array {
  const decimals = USDC_DECIMALS;
  return getMintEncoder().encode({ mintAuthority: null, supply, decimals, isInitialized: true, freezeAuthority: null });
}

/** Encodes an account that holds `amount` micro-USDC for `owner`. */
export function encodeTokenAccount(owner: Address, amount: bigint): ReadonlyUint8Array {
  return getTokenEncoder().encode({
    mint: USDC_MINT,
    owner,
    amount,
    delegate: null,
    state: AccountState.Initialized,
    isNative: null,
    delegatedAmount: 0n,
    closeAuthority: null,
  });
}

/** The address of `owner`'s associated USDC account. */
export async function associatedTokenAddress(owner: Address): Promise<Address> {
  const [derived] = await findAssociatedTokenPda({ owner, tokenProgram: TOKEN_PROGRAM_ADDRESS, mint: USDC_MINT });
  return derived;
}

/** The balance of a token account. */
export type TokenHolding = Pick<Token, "mint" | "owner" | "amount">;

/** Reads an account of the token program; undefined when it is not an initialised token account. */
export function decodeTokenAccount({ programAddress, data }: EncodedAccount): TokenHolding | undefined {
  if (programAddress !== TOKEN_PROGRAM_ADDRESS || data.length !== getTokenSize()) return undefined;
  const { mint, owner, amount, state } = getTokenDecoder().decode(data);
  return state === AccountState.Initialized ? { mint, owner, amount } : undefined;
}

/** Reads a mint of the token program; undefined when it is not an initialised mint. */
export function decodeMint({ programAddress, data }: EncodedAccount) {
  if (programAddress !== TOKEN_PROGRAM_ADDRESS || data.length !== getMintSize()) return undefined;
  const { supply, decimals, isInitialized } = getMintDecoder().decode(data);
  return isInitialized ? { supply, decimals } : undefined;
}

/** The decimals of a mint; 0 when it does not exist. */
export function decimalsOf(machine: Machine, mint: Address): number {
  const account = machine.account(mint);
  return (account && decodeMint(account)?.decimals) ?? 0;
}

/** An amount in RPC answers: `amount` in the smallest unit, and the same in whole tokens. */
export function uiTokenAmount(amount: bigint, decimals: number) {
  const uiAmountString = formatUnits(amount, decimals);
  return { amount: amount.toString(), decimals, uiAmount: Number(uiAmountString), uiAmountString };
}

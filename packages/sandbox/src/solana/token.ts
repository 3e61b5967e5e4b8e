import { RAILS, USDC_DECIMALS } from "@attestd/proof/rails";
import { formatUnits } from "@attestd/proof/text";
import {
  type Address,
  address,
  fixCodecSize,
  getAddressCodec,
  getAddressEncoder,
  getBooleanCodec,
  getBytesCodec,
  getProgramDerivedAddress,
  getStructCodec,
  getU8Codec,
  getU32Codec,
  getU64Codec,
} from "@solana/kit";

export const TOKEN_PROGRAM = address("TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA");
const ASSOCIATED_TOKEN_PROGRAM = address("ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL");

/** Circle's USDC mint on MainNet: stock x402 clients pay in it, and its accounts are derived from it. */
export const USDC_MINT = address(RAILS.solana.usdc);

const absentAddress = fixCodecSize(getBytesCodec(), 36);

/** SPL Token's `Mint`, 82 bytes, with neither mint nor freeze authority. */
const mintCodec = getStructCodec([
  ["mintAuthority", absentAddress],
  ["supply", getU64Codec()],
  ["decimals", getU8Codec()],
  ["isInitialized", getBooleanCodec()],
  ["freezeAuthority", absentAddress],
]);

/** SPL Token's `Account`, 165 bytes. */
const accountCodec = getStructCodec([
  ["mint", getAddressCodec()],
  ["owner", getAddressCodec()],
  ["amount", getU64Codec()],
  ["delegate", absentAddress],
  ["state", getU8Codec()],
  ["isNativeTag", getU32Codec()],
  ["nativeReserve", getU64Codec()],
  ["delegatedAmount", getU64Codec()],
  ["closeAuthority", absentAddress],
]);

const NOBODY = new Uint8Array(36);
const INITIALIZED = 1;

/** Bytes of the USDC mint account with that supply, in micro-USDC. */
export function encodeMint(supply: bigint): Uint8Array {
  return new Uint8Array(
    mintCodec.encode({
      mintAuthority: NOBODY,
      supply,
      decimals: USDC_DECIMALS,
      isInitialized: true,
      freezeAuthority: NOBODY,
    }),
  );
}

/** Bytes of an account that holds `amount` micro-USDC for `owner`. */
export function encodeTokenAccount(owner: Address, amount: bigint): Uint8Array {
  return new Uint8Array(
    accountCodec.encode({
      mint: USDC_MINT,
      owner,
      amount,
      delegate: NOBODY,
      state: INITIALIZED,
      isNativeTag: 0,
      nativeReserve: 0n,
      delegatedAmount: 0n,
      closeAuthority: NOBODY,
    }),
  );
}

/** The address of `owner`'s associated USDC account. */
export async function associatedTokenAddress(owner: Address): Promise<Address> {
  const encoder = getAddressEncoder();
  const [derived] = await getProgramDerivedAddress({
    programAddress: ASSOCIATED_TOKEN_PROGRAM,
    seeds: [encoder.encode(owner), encoder.encode(TOKEN_PROGRAM), encoder.encode(USDC_MINT)],
  });
  return derived;
}

/** The balance of a token account. */
export interface TokenHolding {
  mint: Address;
  owner: Address;
  amount: bigint;
}

/** Reads an account of the token program; undefined when it is not an initialised token account. */
export function decodeTokenAccount(programAddress: Address, data: Uint8Array): TokenHolding | undefined {
  if (programAddress !== TOKEN_PROGRAM || data.length !== 165) return undefined;
  const { mint, owner, amount, state } = accountCodec.decode(data);
  return state === INITIALIZED ? { mint, owner, amount } : undefined;
}

/** Reads a mint of the token program; undefined when it is not an initialised mint. */
export function decodeMint(
  programAddress: Address,
  data: Uint8Array,
): { supply: bigint; decimals: number } | undefined {
  if (programAddress !== TOKEN_PROGRAM || data.length !== 82) return undefined;
  const { supply, decimals, isInitialized } = mintCodec.decode(data);
  return isInitialized ? { supply, decimals } : undefined;
}

/** An amount in RPC answers: `amount` in the smallest unit, and the same in whole tokens. */
export function uiTokenAmount(amount: bigint, decimals: number) {
  const uiAmountString = formatUnits(amount, decimals);
  return { amount: amount.toString(), decimals, uiAmount: Number(uiAmountString), uiAmountString };
}

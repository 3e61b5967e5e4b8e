import { zstdCompressSync } from "node:zlib";
import { toBase64 as base64 } from "@attestd/proof/encoding";
import { type EncodedAccount, getBase58Decoder, type ReadonlyUint8Array } from "@solana/kit";
import { TOKEN_PROGRAM_ADDRESS } from "@solana-program/token";
import { INVALID_PARAMS, RpcError } from "../jsonrpc.ts";
import type { Block, LandedTransaction, TokenBalance } from "./ledger.ts";
import type { Execution, Machine } from "./machine.ts";
import { type Config, unknownEncoding } from "./params.ts";
import { decimalsOf, decodeMint, decodeTokenAccount, uiTokenAmount } from "./token.ts";

/** The rent epoch with which a validator marks rent-exempt accounts, like all accounts here: 2^64 - 1. */
const RENT_EXEMPT = 0xffff_ffff_ffff_ffffn;

/** The limit of data in base58. */
const MAX_BASE58_BYTES = 128;

const base58 = (bytes: ReadonlyUint8Array) => getBase58Decoder().decode(bytes);

/** An account in getAccountInfo. `data` is already encoded. */
export function accountJson({ lamports, programAddress, executable, space }: EncodedAccount, data: unknown) {
  return { lamports, owner: programAddress, executable, data, rentEpoch: RENT_EXEMPT, space };
}

/** An account's data in the requested encoding; by default the RPC's original base58 string. */
export function encodeData(account: EncodedAccount, config: Config, machine: Machine): unknown {
  const { encoding, dataSlice } = config as { encoding?: string; dataSlice?: { offset: number; length: number } };
  const data = new Uint8Array(account.data);
  const part = dataSlice ? data.subarray(dataSlice.offset, dataSlice.offset + dataSlice.length) : data;
  if (encoding === "base64") return [base64(part), "base64"];
  if (encoding === "base64+zstd") return [base64(zstdCompressSync(part)), encoding];
  if (encoding === "jsonParsed") return parsedData(account, machine) ?? [base64(data), "base64"];
  if (encoding !== undefined && encoding !== "base58") throw unknownEncoding(encoding);
  if (part.length > MAX_BASE58_BYTES) {
    throw new RpcError(
      INVALID_PARAMS,
      `Encoded binary (base 58) data should be less than ${MAX_BASE58_BYTES} bytes, please use Base64 encoding.`,
    );
  }
  return encoding === undefined ? base58(part) : [base58(part), "base58"];
}

/**
 * Returns an account's data in the `jsonParsed` encoding; undefined without a parser for it: validators then return
 * base64.
 */
function parsedData(account: EncodedAccount, machine: Machine): object | undefined {
  const { space } = account;
  const token = decodeTokenAccount(account);
  if (token) {
    const tokenAmount = uiTokenAmount(token.amount, decimalsOf(machine, token.mint));
    const info = { isNative: false, mint: token.mint, owner: token.owner, state: "initialized", tokenAmount };
    return { program: "spl-token", parsed: { type: "account", info }, space };
  }
  const mint = decodeMint(account);
  if (mint) {
    const { decimals, supply } = mint;
    const info = { decimals, freezeAuthority: null, isInitialized: true, mintAuthority: null, supply: String(supply) };
    return { program: "spl-token", parsed: { type: "mint", info }, space };
  }
  return undefined;
}

/** The `meta` of a landed transaction in getTransaction. */
export function metaJson({ execution, balances, tokenBalances }: LandedTransaction) {
  const { err, fee, logs, unitsConsumed } = execution;
  return {
    err,
    status: err === null ? { Ok: null } : { Err: err },
    fee,
    preBalances: balances.before,
    postBalances: balances.after,
    preTokenBalances: tokenBalances.before.map(tokenBalanceJson),
    postTokenBalances: tokenBalances.after.map(tokenBalanceJson),
    innerInstructions: innerInstructionsJson(execution),
    logMessages: logs,
    loadedAddresses: { readonly: [], writable: [] },
    rewards: [],
    computeUnitsConsumed: unitsConsumed,
  };
}

function tokenBalanceJson({ accountIndex, mint, owner, amount, decimals }: TokenBalance) {
  return {
    accountIndex,
    mint,
    owner,
    programId: TOKEN_PROGRAM_ADDRESS,
    uiTokenAmount: uiTokenAmount(amount, decimals),
  };
}

function innerInstructionsJson({ innerInstructions }: Execution) {
  return innerInstructions.map(({ index, instructions }) => ({
    index,
    instructions: instructions.map((call) => ({ ...call, data: base58(call.data) })),
  }));
}

/** A landed transaction in the requested encoding. */
export function encodeTransaction(landed: LandedTransaction, { encoding = "json" }: Config): unknown {
  if (encoding === "json") return transactionJson(landed);
  if (encoding === "base64") return [base64(landed.decoded.wire), encoding];
  if (encoding === "base58") return [base58(landed.decoded.wire), encoding];
  throw unknownEncoding(encoding);
}

function transactionJson({ decoded: { transaction, message } }: LandedTransaction) {
  const { header, staticAccounts, instructions, lifetimeToken, version } = message;
  return {
    signatures: Object.values(transaction.signatures).map((signature) => signature && base58(signature)),
    message: {
      accountKeys: staticAccounts,
      header: {
        numRequiredSignatures: header.numSignerAccounts,
        numReadonlySignedAccounts: header.numReadonlySignerAccounts,
        numReadonlyUnsignedAccounts: header.numReadonlyNonSignerAccounts,
      },
      instructions: instructions.map(({ programAddressIndex, accountIndices, data }) => ({
        programIdIndex: programAddressIndex,
        accounts: accountIndices ?? [],
        data: base58(data ?? new Uint8Array()),
        stackHeight: 1,
      })),
      recentBlockhash: lifetimeToken,
      ...(version === "legacy" ? {} : { addressTableLookups: [] }),
    },
  };
}

/** One entry of getSignatureStatuses. */
export function statusJson(
  { block, execution: { err } }: LandedTransaction,
  newest: Block,
  confirmationStatus: string,
) {
  return {
    slot: block.slot,
    confirmations: confirmationStatus === "finalized" ? null : newest.slot - block.slot,
    err,
    status: err === null ? { Ok: null } : { Err: err },
    confirmationStatus,
  };
}

/** Returns the result of a simulation, also of the one before sending. */
export function simulationJson(execution: Execution, innerInstructions: boolean) {
  const { err, logs, unitsConsumed } = execution;
  return {
    err,
    logs,
    accounts: null,
    unitsConsumed,
    returnData: null,
    innerInstructions: innerInstructions ? innerInstructionsJson(execution) : null,
  };
}

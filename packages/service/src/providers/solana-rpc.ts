import { fromBase64 } from "@attestd/proof/encoding";
import { RAILS } from "@attestd/proof/rails";
import { z } from "zod";
import { JsonRpc, refusalOf } from "./json-rpc.ts";
import { unavailable } from "./provider.ts";
import type { QuorumRules } from "./quorum.ts";
import { transactionIdOf } from "./solana-wire.ts";

/** The nodes of Solana MainNet. */
export type SolanaNodes = { rpcs: readonly SolanaRpc[]; rules: QuorumRules };

const slot = z.int().nonnegative();
/** Bytes as `[text, encoding]`. */
const bytes = z.tuple([z.string(), z.literal("base64")]).transform(([text]) => fromBase64(text));
const Validity = z.object({ context: z.object({ slot }), value: z.boolean() });
const LatestBlockhash = z.object({
  value: z.object({ blockhash: z.string().regex(/^[1-9A-HJ-NP-Za-km-z]{32,44}$/), lastValidBlockHeight: slot }),
});
const ListedTransactions = z.array(
  z.object({
    signature: z.string(),
    slot,
    /** `[length] text` of each memo, joined by "; "; null if there is none, or the node does not keep them. */
    memo: z.string().nullish(),
    confirmationStatus: z.string().nullish(),
  }),
);
const TokenBalances = z
  .array(
    z.object({
      accountIndex: z.int().nonnegative(),
      mint: z.string(),
      uiTokenAmount: z.object({
        amount: z
          .string()
          .regex(/^\d{1,20}$/)
          .transform(BigInt),
      }),
    }),
  )
  .nullish()
  .transform((balances) => balances ?? []);
/** `TransactionError`: a name, or a name with details; null for success. */
const TransactionError = z.union([z.string(), z.looseObject({})]).nullable();
const Outcome = z.object({ err: TransactionError, preTokenBalances: TokenBalances, postTokenBalances: TokenBalances });
const LandedTransaction = z.object({ slot, transaction: bytes, meta: z.unknown() });
/** The place of the amount in an account of the token program: a little-endian u64 after the mint and the owner. */
const TOKEN_AMOUNT = { offset: 64, length: 8 };
const Account = z.object({ value: z.object({ owner: z.string(), data: bytes }).nullable() });
/** The newest transaction version that we request. No payment to us has a newer one. */
const NEWEST_VERSION = 1;
/** The error code for a transaction with a newer version than requested. */
const UNSUPPORTED_VERSION = -32015;
/**
 * Room for a thousand listed transactions whose memos consist of control characters, which JSON writes in six bytes
 * each.
 */
const MAX_LIST_BYTES = 32 * 1024 * 1024;

/** An entry in the list of an account's transactions, unchecked. */
export type ListedTransaction = z.infer<typeof ListedTransactions>[number];
/**
 * A landed transaction: executed and paid for, whether it failed or not. `transaction` is its wire form, of any
 * version. `SolanaRpc.outcome` reads `meta`, so that a transaction that does not matter need not be understood.
 */
export type LandedTransaction = z.infer<typeof LandedTransaction>;
/** The result of a landed transaction: its error, and the token balances of its accounts before and after. */
export type Outcome = z.infer<typeof Outcome>;

/** `confirmed`: voted for by two thirds of the stake. `finalized`: with 31 confirmed blocks on top. */
export type Commitment = "processed" | "confirmed" | "finalized";

/**
 * A client of one JSON-RPC node of Solana MainNet, or of several behind one balancer. Every method throws ProviderError
 * when the node gives no usable answer or belongs to another cluster, and the signal's reason when the signal comes
 * first.
 *
 * `minSlot` is `minContextSlot`: a node whose newest slot at that commitment is older refuses to answer.
 */
export class SolanaRpc extends JsonRpc {
  protected async checkNetwork(signal: AbortSignal): Promise<void> {
    const genesisHash = await this.send("getGenesisHash", [], z.string(), signal);
    // CAIP-2 has the first 32 characters of the hash; a sandbox's hash begins with the same ones.
    if (!`solana:${genesisHash}`.startsWith(RAILS.solana.network))
      throw unavailable(`${this.name} is of the cluster of genesis ${genesisHash}, not ${RAILS.solana.network}`);
  }

  /** @throws ProviderError also when the node is behind its cluster */
  async checkHealth(signal: AbortSignal): Promise<void> {
    await this.call("getHealth", [], z.literal("ok"), signal);
  }

  /** Reads a blockhash for a new transaction: the newest that other nodes surely know. */
  async latestBlockhash(signal: AbortSignal) {
    const answer = await this.call("getLatestBlockhash", [{ commitment: "confirmed" }], LatestBlockhash, signal);
    return answer.value;
  }

  /**
   * Whether a transaction with the blockhash could be in a block on top of the newest one at that commitment.
   * @returns also that block's slot. A blockhash newer than that block is not valid either
   */
  async isBlockhashValid(
    blockhash: string,
    { commitment, minSlot }: { commitment: Commitment; minSlot?: number },
    signal: AbortSignal,
  ): Promise<{ slot: number; valid: boolean }> {
    const options = { commitment, minContextSlot: minSlot };
    const { context, value } = await this.call("isBlockhashValid", [blockhash, options], Validity, signal);
    // A balancer, or a node that does not know the option, may have ignored it.
    if (minSlot !== undefined && context.slot < minSlot)
      throw unavailable(`${this.name} answered from slot ${context.slot}, which is before ${minSlot}`);
    return { slot: context.slot, valid: value };
  }

  /**
   * Lists confirmed transactions that name an account, newest first, at most `limit` (1000): all, or those before a
   * given one. A node that does not know that one yet lists none, so pass its slot as `minSlot`.
   */
  async transactionsOf(
    account: string,
    { before, limit, minSlot }: { before?: string | undefined; limit: number; minSlot?: number },
    signal: AbortSignal,
  ): Promise<ListedTransaction[]> {
    const params = [account, { commitment: "confirmed", limit, before, minContextSlot: minSlot }];
    return this.call("getSignaturesForAddress", params, ListedTransactions, signal, { maxBytes: MAX_LIST_BYTES });
  }

  /**
   * Reads a confirmed transaction by its first signature.
   * @returns undefined when the node has none; `of_newer_version` when its version is newer than requested
   */
  async transaction(signature: string, signal: AbortSignal) {
    const options = { commitment: "confirmed", encoding: "base64", maxSupportedTransactionVersion: NEWEST_VERSION };
    const found = await this.call("getTransaction", [signature, options], LandedTransaction.nullable(), signal).catch(
      (error: unknown) => {
        if (refusalOf(error)?.details.rpcCode === UNSUPPORTED_VERSION) return "of_newer_version" as const;
        throw error;
      },
    );
    if (found === null || found === "of_newer_version") return found ?? undefined;
    const id = transactionIdOf(found.transaction);
    if (id !== undefined && id !== signature) throw unavailable(`${this.name} answered with ${id}, not ${signature}`);
    return found;
  }

  /** Reads the result of a landed transaction. */
  outcome({ meta }: LandedTransaction): Outcome {
    return this.decode(() => Outcome.parse(meta));
  }

  /** Reads the balance of a token account in atomic units; 0 if there is no account. */
  async tokenBalance(account: string, signal: AbortSignal): Promise<bigint> {
    const options = { commitment: "confirmed", encoding: "base64", dataSlice: TOKEN_AMOUNT };
    const { value } = await this.call("getAccountInfo", [account, options], Account, signal);
    return value === null ? 0n : this.decode(() => new DataView(value.data.buffer).getBigUint64(0, true));
  }

  /** Reads an account: the program that owns it, and its data. Undefined if there is none. */
  async account(address: string, signal: AbortSignal): Promise<{ program: string; data: Uint8Array } | undefined> {
    const options = { commitment: "confirmed", encoding: "base64" };
    const { value } = await this.call("getAccountInfo", [address, options], Account, signal);
    return value === null ? undefined : { program: value.owner, data: value.data };
  }
}

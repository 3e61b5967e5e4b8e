import { fromBase64 } from "@attestd/proof/encoding";
import { z } from "zod";
import type { Endpoint } from "./algorand.ts";
import { HttpProvider } from "./http.ts";
import { unavailable } from "./provider.ts";
import type { QuorumRules } from "./quorum.ts";

/** How the genesis hash of Solana MainNet begins, and that of the sandbox, which goes by its name (CAIP-2). */
export const MAINNET_GENESIS = "5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp";

/** The nodes of Solana MainNet. */
export type SolanaNodes = { rpcs: readonly SolanaRpc[]; rules: QuorumRules };

const slot = z.int().nonnegative();
/** Bytes as `[text, encoding]`. */
const bytes = z.tuple([z.string(), z.literal("base64")]).transform(([text]) => fromBase64(text));
const Validity = z.object({ context: z.object({ slot }), value: z.boolean() });
const ListedTransactions = z.array(
  z.object({
    signature: z.string(),
    slot,
    /** `[length] text` of each memo, joined by "; "; null where there is none, or the node does not keep them. */
    memo: z.string().nullish(),
    confirmationStatus: z.string().nullish(),
  }),
);
const TokenBalances = z
  .array(
    z.object({
      accountIndex: z.int().nonnegative(),
      mint: z.string(),
      uiTokenAmount: z.object({ amount: z.string().regex(/^\d+$/).transform(BigInt) }),
    }),
  )
  .nullish()
  .transform((balances) => balances ?? []);
/** `TransactionError`: a name, or a name with its particulars; null for success. */
const TransactionError = z.union([z.string(), z.looseObject({})]).nullable();
const LandedTransaction = z.object({
  slot,
  transaction: bytes,
  meta: z.object({ err: TransactionError, preTokenBalances: TokenBalances, postTokenBalances: TokenBalances }),
});
/** Where the amount stands in an account of the token program: a little-endian u64 after the mint and the owner. */
const TOKEN_AMOUNT = { offset: 64, length: 8 };
const TokenAmount = z.object({ value: z.object({ data: bytes }).nullable() });
const Response = z.object({
  result: z.unknown().optional(),
  error: z.object({ code: z.number(), message: z.string() }).nullish(),
});

/** A transaction as the list of an account's transactions has it, by the node's word. */
export type ListedTransaction = z.infer<typeof ListedTransactions>[number];
/** A transaction that has landed: executed and paid for, whether it failed (`meta.err`) or not. */
export type LandedTransaction = z.infer<typeof LandedTransaction>;

/** `confirmed`: voted by two thirds of the stake. `finalized`: with 31 confirmed blocks on top. */
export type Commitment = "processed" | "confirmed" | "finalized";

/**
 * One JSON-RPC node of Solana MainNet. Every method throws ProviderError when the node gives no usable answer or is of
 * another cluster, and the signal's reason when the signal comes first.
 */
export class SolanaRpc {
  readonly name: string;
  readonly #http: HttpProvider;
  #isMainNet = false;

  constructor({ url, token }: Endpoint) {
    const headers = { ...(token !== undefined && { authorization: `Bearer ${token}` }) };
    this.#http = new HttpProvider({ url, headers });
    this.name = this.#http.name;
  }

  /** @throws ProviderError when the node finds itself behind its cluster */
  async checkHealth(signal: AbortSignal): Promise<void> {
    await this.#call("getHealth", [], z.literal("ok"), signal);
  }

  /**
   * Whether a transaction that names the blockhash could be in a block on top of the newest one at that commitment.
   *
   * @returns also that block's slot. A blockhash which is newer than it is not valid either
   */
  async isBlockhashValid(
    blockhash: string,
    commitment: Commitment,
    signal: AbortSignal,
  ): Promise<{ slot: number; valid: boolean }> {
    const { context, value } = await this.#call("isBlockhashValid", [blockhash, { commitment }], Validity, signal);
    return { slot: context.slot, valid: value };
  }

  /** Confirmed transactions that name an account, newest first, at most `limit` (1000): all, or those before one of them. */
  async transactionsOf(
    account: string,
    { before, limit }: { before?: string | undefined; limit: number },
    signal: AbortSignal,
  ): Promise<ListedTransaction[]> {
    const options = { commitment: "confirmed", limit, ...(before !== undefined && { before }) };
    return this.#call("getSignaturesForAddress", [account, options], ListedTransactions, signal);
  }

  /** A confirmed transaction by its first signature; undefined when the node has none. */
  async transaction(signature: string, signal: AbortSignal): Promise<LandedTransaction | undefined> {
    const options = { commitment: "confirmed", encoding: "base64", maxSupportedTransactionVersion: 0 };
    const found = await this.#call("getTransaction", [signature, options], LandedTransaction.nullable(), signal);
    return found ?? undefined;
  }

  /** What a token account holds, in atomic units; 0 where there is none. */
  async tokenBalance(account: string, signal: AbortSignal): Promise<bigint> {
    const options = { commitment: "confirmed", encoding: "base64", dataSlice: TOKEN_AMOUNT };
    const { value } = await this.#call("getAccountInfo", [account, options], TokenAmount, signal);
    return value === null ? 0n : this.decode(() => new DataView(value.data.buffer).getBigUint64(0, true));
  }

  /** Runs a decoder of this node's data: what it throws is the node's failure. */
  decode<T>(decoder: () => T): T {
    return this.#http.decode(decoder);
  }

  async #call<S extends z.ZodType>(
    method: string,
    params: readonly unknown[],
    result: S,
    signal: AbortSignal,
  ): Promise<z.infer<S>> {
    await this.#checkGenesis(signal);
    return this.#ask(method, params, result, signal);
  }

  async #checkGenesis(signal: AbortSignal): Promise<void> {
    if (this.#isMainNet) return;
    const genesisHash = await this.#ask("getGenesisHash", [], z.string(), signal);
    if (!genesisHash.startsWith(MAINNET_GENESIS))
      throw unavailable(`${this.name} is of the cluster of genesis ${genesisHash}, not ${MAINNET_GENESIS}…`);
    this.#isMainNet = true;
  }

  async #ask<S extends z.ZodType>(
    method: string,
    params: readonly unknown[],
    schema: S,
    signal: AbortSignal,
  ): Promise<z.infer<S>> {
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
    const headers = { "content-type": "application/json" };
    const answer = await this.#http.request({ method: "POST", path: "", headers, body }, signal);
    // Some nodes answer their errors with a 4xx; a body that is no JSON-RPC is no answer, whatever the status.
    const { error, result } = this.#http.read(answer, Response);
    if (error) throw unavailable(`${this.name} refused ${method}: ${error.message.slice(0, 200)}`);
    return this.#http.decode(() => schema.parse(result));
  }
}

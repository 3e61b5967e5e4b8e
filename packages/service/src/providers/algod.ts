import {
  decodeMsgpackMap,
  encodeMsgpack,
  getInteger,
  getMap,
  type MsgpackMap,
  structMap,
} from "@attestd/proof/algorand";
import { fromBase64 } from "@attestd/proof/encoding";
import { z } from "zod";
import type { UpstreamNode } from "../config/config.ts";
import { HttpProvider } from "./http.ts";
import { unavailable } from "./provider.ts";

const round = z.int().nonnegative();
/** A uint64: microAlgos, or base units of an asset. */
const microAlgos = z.union([z.int().nonnegative(), z.bigint().nonnegative()]).transform(BigInt);

/** `fee`: microAlgos per byte, 0 unless the network is congested. */
const Params = z
  .object({
    "genesis-hash": z.string(),
    "genesis-id": z.string(),
    "consensus-version": z.string().optional(),
    "last-round": round,
    fee: microAlgos,
    "min-fee": microAlgos,
  })
  .transform(({ "genesis-hash": genesisHash, "genesis-id": genesisId, "consensus-version": consensus, ...params }) => {
    return {
      genesisHash,
      genesisId,
      consensus,
      lastRound: params["last-round"],
      minFee: params["min-fee"],
      feePerByte: params.fee,
    };
  });
const Status = z.object({ "last-round": round, "catchup-time": z.union([z.number(), z.bigint()]) });
const Account = z
  .object({ amount: microAlgos, "min-balance": microAlgos, "auth-addr": z.string().optional(), round })
  .transform(({ "min-balance": minBalance, "auth-addr": authorizer, ...account }) => {
    return { ...account, minBalance, authorizer };
  });
const BlockIds = z.object({ blockTxids: z.array(z.string()).nullish() });
const Holding = z
  .object({ amount: microAlgos, "is-frozen": z.boolean().optional() })
  .transform(({ amount, "is-frozen": isFrozen = false }) => ({ amount, isFrozen }));
const AssetHolding = z.object({ "asset-holding": Holding.optional(), round });
const Simulation = z.object({ "txn-groups": z.array(z.object({ "failure-message": z.string().optional() })).min(1) });
const Message = z.object({ message: z.string() });
const base64 = z.string().transform((text) => fromBase64(text));
/** `index`: the round's position in its interval, from 0. `siblings`: concatenated digests. */
const LightHeader = z
  .object({ index: round, proof: base64.optional() })
  .transform(({ index, proof = new Uint8Array() }) => ({ index, siblings: proof }));

const text = z.string();
/** The caller checks its members. */
const ProvenRounds = z
  .object({
    Message: z.object({
      BlockHeadersCommitment: text,
      VotersCommitment: text,
      LnProvenWeight: round,
      FirstAttestedRound: round,
      LastAttestedRound: round,
    }),
    StateProof: base64,
  })
  .transform(({ Message: message, StateProof: stateProof }) => ({
    message: {
      blockHeadersCommitment: message.BlockHeadersCommitment,
      votersCommitment: message.VotersCommitment,
      lnProvenWeight: message.LnProvenWeight,
      firstAttestedRound: message.FirstAttestedRound,
      lastAttestedRound: message.LastAttestedRound,
    },
    stateProof,
  }));

/** The parameters for making a transaction; microAlgos. */
export type TransactionParams = Omit<z.infer<typeof Params>, "genesisHash">;

/** See `Algod.lightHeader`. */
export type LightHeaderPath = z.infer<typeof LightHeader>;

/** The limit of a block: it has up to 5 MiB of transactions, plus their effects and the certificate. */
const MAX_BLOCK_BYTES = 32 * 1024 * 1024;
/** Time-out of wait-for-block-after, in ms: algod answers within a minute, even without a new round. */
const WAIT_MS = 65_000;

/**
 * A client of one algod node. Every method throws ProviderError when the node gives no usable answer, and the signal's
 * reason when the signal comes first.
 */
export class Algod extends HttpProvider {
  readonly #genesisHash: string;

  /** @param genesisHash of the network that the node must be on, base64, 32 bytes */
  constructor({ url, token }: UpstreamNode, genesisHash: string) {
    super({ url, headers: token === undefined ? {} : { "x-algo-api-token": token } });
    this.#genesisHash = genesisHash;
  }

  /** Reads the genesis hash of a node's network: base64, 32 bytes. @throws ProviderError */
  static async genesisHash(node: UpstreamNode, signal: AbortSignal): Promise<string> {
    const algod = new Algod(node, "");
    const { genesisHash } = await algod.json({ path: "/v2/transactions/params" }, Params, signal);
    if (/^[A-Za-z0-9+/]{43}=$/.test(genesisHash)) return genesisHash;
    throw unavailable(`${algod.name} names no genesis hash`);
  }

  /** @throws ProviderError also when the node is on another network */
  async params(signal: AbortSignal): Promise<TransactionParams> {
    const { genesisHash, ...params } = await this.json({ path: "/v2/transactions/params" }, Params, signal);
    if (genesisHash !== this.#genesisHash)
      throw unavailable(`${this.name} is on the network of genesis ${genesisHash}, not ${this.#genesisHash}`);
    return params;
  }

  /** Returns the last round that the node has. @throws ProviderError also while it catches up with the network */
  async lastRound(signal: AbortSignal): Promise<number> {
    const status = await this.json({ path: "/v2/status" }, Status, signal);
    if (status["catchup-time"] > 0) throw unavailable(`${this.name} is catching up`);
    return status["last-round"];
  }

  /**
   * Whether the node is in follower mode, in which it submits nothing and finds no transaction by id. Only a follower
   * has this path; while its sync round is not set, its 404 has another text than that for an unknown path.
   */
  async isFollower(signal: AbortSignal): Promise<boolean> {
    const { status, body } = await this.request({ path: "/v2/ledger/sync" }, signal);
    return status === 200 || (status === 404 && this.unexpected({ status, body }).message.includes("sync round"));
  }

  /** Returns the node's last round once it is above `round`, or after about a minute. */
  async waitForBlockAfter(round: number, signal: AbortSignal): Promise<number> {
    const request = { path: `/v2/status/wait-for-block-after/${round}`, longPollMs: WAIT_MS };
    return (await this.json(request, Status, signal))["last-round"];
  }

  /**
   * Submits a signed transaction.
   * @returns the node's reason for the rejection; undefined when it accepted the transaction
   */
  async submit(raw: Uint8Array, signal: AbortSignal): Promise<string | undefined> {
    const headers = { "content-type": "application/x-binary" };
    const body = new Uint8Array(raw);
    const answer = await this.request({ method: "POST", path: "/v2/transactions", headers, body }, signal);
    if (answer.status === 200) return undefined;
    if (answer.status === 400) return this.read(answer, Message).message;
    throw this.unexpected(answer);
  }

  /**
   * Looks for a transaction in the pool and in the last 1000 rounds.
   * @returns undefined when it is in neither; both members are absent while it is in the pool, or was dropped from it.
   *   `signed` is `{txn, sig?, …}`, unchecked
   */
  async pending(txid: string, signal: AbortSignal): Promise<{ round?: number; signed?: MsgpackMap } | undefined> {
    const answer = await this.find({ path: `/v2/transactions/pending/${txid}?format=msgpack` }, signal);
    if (!answer) return undefined;
    return this.decode(() => {
      const information = decodeMsgpackMap(answer.body);
      const round = Number(getInteger(information, "confirmed-round"));
      const signed = getMap(information, "txn");
      return round === 0 ? {} : { round, ...(signed && { signed }) };
    });
  }

  /** Returns a block as `{block, cert}` in msgpack; undefined when the node does not have that round. */
  async block(round: number, signal: AbortSignal): Promise<Uint8Array | undefined> {
    const request = { path: `/v2/blocks/${round}?format=msgpack`, maxBytes: MAX_BLOCK_BYTES };
    return (await this.find(request, signal))?.body;
  }

  /**
   * Returns the path from a round's light header to the commitment of its state proof, unchecked; undefined while there
   * is none, and once the node has forgotten one of the blocks.
   */
  async lightHeader(round: number, signal: AbortSignal): Promise<LightHeaderPath | undefined> {
    const answer = await this.find({ path: `/v2/blocks/${round}/lightheader/proof` }, signal);
    return answer && this.read(answer, LightHeader);
  }

  /** Returns the state proof of a round, and its message, unchecked; undefined while there is none. */
  async provenRounds(round: number, signal: AbortSignal): Promise<z.infer<typeof ProvenRounds> | undefined> {
    const answer = await this.find({ path: `/v2/stateproofs/${round}` }, signal);
    return answer && this.read(answer, ProvenRounds);
  }

  /** Returns the ids in a block, unchecked. @throws ProviderError also when the node does not have that round */
  async blockTransactionIds(round: number, signal: AbortSignal): Promise<string[]> {
    return (await this.json({ path: `/v2/blocks/${round}/txids` }, BlockIds, signal)).blockTxids ?? [];
  }

  /**
   * Returns an account's microAlgos, the address whose signature its transactions need (its own unless it is rekeyed),
   * and the round.
   */
  async account(address: string, signal: AbortSignal) {
    const account = await this.json({ path: `/v2/accounts/${address}?exclude=all` }, Account, signal);
    return { ...account, authorizer: account.authorizer ?? address };
  }

  /**
   * Evaluates a group on the latest round without submitting it; a transaction in it may lack its signature.
   * @param group signed transactions, `{txn, sig?, …}`
   * @returns the node's reason for a rejection; undefined when it would accept the group
   */
  async simulate(group: readonly MsgpackMap[], signal: AbortSignal): Promise<string | undefined> {
    const groups = [structMap({ txns: [...group] })];
    const body = encodeMsgpack(structMap({ "allow-empty-signatures": true, "txn-groups": groups }));
    const headers = { "content-type": "application/msgpack" };
    const path = "/v2/transactions/simulate";
    const answer = await this.request({ method: "POST", path, headers, body, breakerName: "foreign" }, signal);
    if (answer.status === 400) return this.read(answer, Message).message;
    if (answer.status !== 200) throw this.unexpected(answer);
    return this.read(answer, Simulation)["txn-groups"][0]?.["failure-message"];
  }

  /**
   * Returns an account's holding of an asset, in base units, and the round of the answer; undefined when it has not
   * opted in.
   */
  async assetHolding(address: string, asset: string, signal: AbortSignal) {
    const answer = await this.find({ path: `/v2/accounts/${address}/assets/${asset}` }, signal);
    if (!answer) return undefined;
    const { "asset-holding": holding, round: at } = this.read(answer, AssetHolding);
    return holding && { ...holding, round: at };
  }
}

import type { ServerResponse } from "node:http";
import { encodeMsgpack, type MsgpackMap, structMap, txid } from "@attestd/proof/algorand";
import { toBase64 } from "@attestd/proof/encoding";
import { Algod } from "../../src/providers/algod.ts";
import type { AlgorandNodes } from "../../src/providers/algorand-nodes.ts";
import { Indexer } from "../../src/providers/indexer.ts";
import type { Conflict } from "../../src/providers/quorum.ts";
import { type Handler, json, Upstream } from "./providers.ts";

export const GENESIS = new Uint8Array(32).fill(7);
export const GENESIS_HASH = toBase64(GENESIS);

/** An unsigned payment of 0 by and to one account; `note` makes it distinct. */
export function payment(note: string, extra: Record<string, number> = {}): MsgpackMap {
  const account = new Uint8Array(32).fill(1);
  const fields = { type: "pay", snd: account, rcv: account, fee: 1000, fv: 1, lv: 1000, gen: "test-v1", gh: GENESIS };
  return structMap({ ...fields, note: new TextEncoder().encode(note), ...extra });
}

export function idOf(transaction: MsgpackMap): string {
  return txid(encodeMsgpack(transaction));
}

/** `{block}` as algod serves it: its transactions omit the fields of the header. */
export function blockOf(
  round: number,
  transactions: readonly MsgpackMap[],
  effects: object = {},
  ts?: number,
): Uint8Array {
  const txns = transactions.map((transaction) => {
    const stripped = new Map(transaction);
    stripped.delete("gen");
    stripped.delete("gh");
    return new Map(Object.entries({ hgi: true, txn: stripped, ...effects }));
  });
  const block = structMap({ rnd: round, gen: "test-v1", gh: GENESIS, ts, txns });
  return encodeMsgpack(structMap({ block }));
}

/** The answers of a hand-made node, all of which a test may change. */
export class FakeChain {
  latest = 0;
  genesisHash = GENESIS_HASH;
  genesisId = "test-v1";
  minFee = 1000;
  feePerByte = 0;
  microAlgos = 1_500_000;
  catchupTime = 0;
  readonly blocks = new Map<number, Uint8Array>();
  /** Rounds by id, for `pending`; 0 is the pool. */
  readonly recent = new Map<string, number>();
  /** The envelopes of recent transactions by id, `{txn, sig?, …}`. */
  readonly signed = new Map<string, MsgpackMap>();
  /** The address that each rekeyed account is rekeyed to. */
  readonly authorizers = new Map<string, string>();
  /** The indexer's records by id, and the round up to which it knows. */
  readonly indexed = new Map<string, object>();
  /** The indexer's headers by round. */
  readonly headers = new Map<number, object>();
  indexedUpTo = 0;
  /** Answers a submission; a message is a rejection. */
  onSubmit: (raw: Buffer) => string | undefined = () => undefined;
  /** Answers a simulation; a message is a failure. */
  onSimulate: (raw: Buffer) => string | undefined = () => undefined;
  readonly #waiting = new Set<() => void>();

  /** Adds a round, and answers the requests that wait for it. */
  addRound(transactions: readonly MsgpackMap[] = [], block = blockOf(this.latest + 1, transactions)): number {
    this.latest += 1;
    this.indexedUpTo = this.latest;
    this.blocks.set(this.latest, block);
    for (const transaction of transactions) this.recent.set(idOf(transaction), this.latest);
    for (const tell of this.#waiting) tell();
    this.#waiting.clear();
    return this.latest;
  }

  readonly handler: Handler = (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "", "http://node");
    const [, , resource = "", name = "", part = ""] = pathname.split("/");
    if (pathname === "/v2/transactions/simulate") return this.#simulate(request.body, response);
    if (request.method === "POST") return this.#submit(request.body, response);
    if (pathname === "/v2/transactions/params") return json(response, this.#params());
    if (resource === "status") return name === "" ? this.#status(response) : this.#wait(Number(part), response);
    if (resource === "blocks" && searchParams.has("header-only")) return this.#header(Number(name), response);
    if (resource === "blocks") return this.#block(Number(name), part, response);
    if (resource === "accounts") return this.#account(name, response);
    if (pathname.startsWith("/v2/transactions/pending/")) return this.#pending(part, response);
    if (resource === "transactions") return this.#search(searchParams.get("txid") ?? "", response);
    json(response, { message: "not here" }, 404);
  };

  #params() {
    return {
      "genesis-hash": this.genesisHash,
      "genesis-id": this.genesisId,
      "last-round": this.latest,
      fee: this.feePerByte,
      "min-fee": this.minFee,
    };
  }

  #status(response: ServerResponse): void {
    json(response, { "last-round": this.latest, "catchup-time": this.catchupTime });
  }

  #wait(round: number, response: ServerResponse): void {
    if (this.latest > round) this.#status(response);
    else this.#waiting.add(() => this.#status(response));
  }

  #block(round: number, part: string, response: ServerResponse): void {
    const block = this.blocks.get(round);
    if (block === undefined) json(response, { message: "failed to retrieve information from the ledger" }, 404);
    else if (part === "txids")
      json(response, { blockTxids: [...this.recent].filter(([, at]) => at === round).map(([id]) => id) });
    else response.end(block);
  }

  #header(round: number, response: ServerResponse): void {
    const header = this.headers.get(round);
    json(response, header ?? { message: "no such round" }, header ? 200 : 404);
  }

  #pending(id: string, response: ServerResponse): void {
    const round = this.recent.get(id);
    if (round === undefined) json(response, { message: "could not find the transaction" }, 404);
    else {
      const txn = this.signed.get(id);
      response.end(encodeMsgpack(structMap({ "confirmed-round": round, "pool-error": "", txn })));
    }
  }

  #account(address: string, response: ServerResponse): void {
    json(response, {
      amount: this.microAlgos,
      "min-balance": 100_000,
      "auth-addr": this.authorizers.get(address),
      round: this.latest,
    });
  }

  #simulate(raw: Buffer, response: ServerResponse): void {
    const message = this.onSimulate(raw);
    json(response, { "txn-groups": [message === undefined ? {} : { "failure-message": message }] });
  }

  #search(id: string, response: ServerResponse): void {
    const record = this.indexed.get(id);
    json(response, { "current-round": this.indexedUpTo, transactions: record ? [record] : [] });
  }

  #submit(raw: Buffer, response: ServerResponse): void {
    const message = this.onSubmit(raw);
    json(response, message === undefined ? { txId: "" } : { message }, message === undefined ? 200 : 400);
  }
}

/** Nodes, each an algod and an indexer over one chain, behind real HTTP. */
export class FakeNodes {
  readonly upstreams: Upstream[] = [];
  readonly conflicts: Conflict[] = [];
  readonly nodes: AlgorandNodes;

  private constructor(upstreams: Upstream[]) {
    this.upstreams = upstreams;
    this.nodes = {
      algods: upstreams.map(({ url }) => new Algod({ url }, GENESIS_HASH)),
      indexers: upstreams.map(({ url }) => new Indexer({ url })),
      rules: { onConflict: (conflict) => this.conflicts.push(conflict) },
    };
  }

  static async start(...chains: FakeChain[]): Promise<FakeNodes> {
    return new FakeNodes(await Promise.all(chains.map(({ handler }) => Upstream.start(handler))));
  }

  async close(): Promise<void> {
    await Promise.all(this.upstreams.map((upstream) => upstream.close()));
  }
}

import type { Inclusion } from "@attestd/proof";
import { fromHex, toBase64 } from "@attestd/proof/encoding";
import { z } from "zod";
import { type BlockWork, blockWork } from "../../../src/chains/block-work.ts";
import type { SourceBlock, SourceChain, SourceTransaction, SourceTransactions } from "../../../src/chains/chain.ts";
import type { SourceChainKind } from "../../../src/chains/chain-kind.ts";
import { ownSettings } from "../../../src/config/config.ts";
import { chainTable } from "../../../src/config/own-tables.ts";
import { checkEach, ok } from "../../../src/health/finding.ts";
import { ServiceError } from "../../../src/lib/errors.ts";
import { HttpProvider } from "../../../src/providers/http.ts";
import { unavailable } from "../../../src/providers/provider.ts";
import { agree, type QuorumRules } from "../../../src/providers/quorum.ts";
import { readSingly } from "../read-singly.ts";
import * as orchardWork from "./block-work.ts";
import { decodeHeader, type OrchardInclusion, orchardFormat } from "./format.ts";

/* Orchard's folder in the service's `chains/`. */

const hex = z.string().transform((text) => fromHex(text));
const Head = z.object({ head: z.int(), final: z.int() });
const Block = z.object({ header: hex, transactions: z.array(hex) });
const Place = z.object({ height: z.int(), index: z.int(), succeeded: z.boolean() });

type Nodes = { nodes: readonly HttpProvider[]; rules: QuorumRules };

class OrchardSource implements SourceChain {
  readonly name = "orchard";
  readonly required;
  readonly #nodes: Nodes;
  readonly #work: BlockWork<typeof orchardWork>;

  constructor(nodes: Nodes, required: SourceChain["required"], work: BlockWork<typeof orchardWork>) {
    this.#nodes = nodes;
    this.required = required;
    this.#work = work;
  }

  async transaction(txnId: string, signal: AbortSignal): Promise<SourceTransaction> {
    const place = await this.#ask(`/transactions/${txnId}`, Place, signal);
    if (!place) throw new ServiceError("source_not_found", `no transaction of Orchard has the id ${txnId}`);
    const { height, index, succeeded } = place;
    const [{ level, caip2, blockHash, header }, { transactions }] = await Promise.all([
      this.block(height, signal),
      this.#blockAt(height, signal),
    ]);
    const bytes = transactions[index];
    if (!bytes || this.#idOf(bytes) !== txnId) throw unavailable(`block ${height} does not hold ${txnId} at ${index}`);
    const block = { hash: blockHash, height, time: decodeHeader(header).time };
    return { chain: "orchard", caip2, txnId, bytes, level, block, succeeded };
  }

  async transactions(txnIds: readonly string[], signal: AbortSignal): Promise<SourceTransactions> {
    return readSingly(this, txnIds, signal);
  }

  async block(height: number, signal: AbortSignal): Promise<SourceBlock> {
    const { final } = (await this.#ask("/head", Head, signal)) ?? { final: -1 };
    const { header, transactions } = await this.#blockAt(height, signal);
    const { blockHash, caip2, height: own } = orchardFormat.header(header, "", undefined as never);
    if (own !== height) throw unavailable(`a header of block ${own} instead of ${height}`);
    return {
      chain: "orchard",
      caip2,
      height,
      blockHash,
      header,
      level: height <= final ? "finalized" : "included",
      find: async (txnId) => {
        const index = transactions.findIndex((bytes) => this.#idOf(bytes) === txnId);
        const bytes = transactions[index];
        return (
          bytes && {
            prove: async () => {
              const siblings = await this.#work.findPath(header, transactions, index);
              const inclusion: OrchardInclusion = { kind: "orchard-path", index, siblings: siblings.map(toBase64) };
              // The union has it where the line stands in the source.
              return { bytes, inclusion: inclusion as unknown as Inclusion };
            },
          }
        );
      },
    };
  }

  #idOf(bytes: Uint8Array): string {
    return orchardFormat.transaction(bytes, "", undefined as never).txnId;
  }

  async #blockAt(height: number, signal: AbortSignal) {
    const block = await this.#ask(`/blocks/${height}`, Block, signal);
    if (!block) throw new ServiceError("block_not_found", `Orchard has no block ${height} yet`);
    return block;
  }

  /** @returns undefined where the nodes agree that there is none */
  async #ask<S extends z.ZodType>(path: string, schema: S, signal: AbortSignal): Promise<z.infer<S> | undefined> {
    const ask = async (node: HttpProvider, ends: AbortSignal) => {
      const answer = await node.request({ path }, ends);
      return answer.status === 404 ? undefined : node.read(answer, schema);
    };
    const same = (answer: unknown) => JSON.stringify(answer) ?? "none";
    const [answer] = await agree(this.#nodes.nodes, ask, { about: path, same, signal }, this.#nodes.rules);
    return answer;
  }
}

const settings = chainTable(orchardFormat, {});

export const orchardChain: SourceChainKind<Nodes> = {
  format: orchardFormat,
  settings,
  work: new URL("./block-work.ts", import.meta.url),
  examples: { attest: { txid: `apple${"0".repeat(40)}` }, block: { height: 7 } },

  connect(config, rules) {
    const { rpc } = ownSettings(config, settings);
    return rpc && { nodes: rpc.map(({ url }) => new HttpProvider({ url })), rules };
  },

  witnesses: ({ nodes }) => ({
    who: "nodes of Orchard",
    lost: "nothing on Orchard can be attested",
    asks: nodes.map((node) => (signal) => node.json({ path: "/head" }, Head, signal)),
  }),

  async examine(connected, { signal }) {
    if (!connected) return [ok("chains.orchard.rpc is not set: nothing on Orchard can be attested.")];
    return checkEach(connected.nodes, { setting: "chains.orchard.rpc" }, async (node) => {
      const { head, final } = await node.json({ path: "/head" }, Head, signal);
      return [ok(`chains.orchard.rpc: ${node.name} is in season ${head}, and final up to ${final}.`)];
    });
  },

  open(nodes, config, { run }) {
    const own = ownSettings(config, settings);
    const required = {
      transaction: { level: own.transaction_level, retryAfter: 7 },
      block: { level: own.block_level, retryAfter: 7 },
    };
    return new OrchardSource(nodes, required, blockWork(orchardWork, run));
  },

  inclusion: z.strictObject({
    kind: z.literal("orchard-path"),
    index: z.int().min(0),
    siblings: z.array(z.base64().length(44)),
  }),

  blocks: {
    height: "season",
    header: "88 bytes that begin with ROOT",
    blockHash: "tree and hex of SHA-256 of SHA-256, reversed",
    inclusion: {
      kind: "orchard-path",
      trees: [{ root: "root", of: "transactions", form: "SHA3-256 Merkle tree", when: "always" }],
      optional: {},
      transactionTypes: { known: ["FRUIT"], others: "None." },
      notProvable: [],
    },
    doesNotProve: ["That there is such a chain."],
  },
};

import { utf8 } from "@attestd/proof/encoding";
import type { ConfirmationLevel, SourceBlock, SourceChain, SourceTransaction } from "../src/chains/chain.ts";
import type { Clock } from "../src/clock.ts";
import { ServiceError } from "../src/errors.ts";
import type { Subject } from "../src/subjects/subject.ts";
import { readSingly } from "../test/fakes/read-singly.ts";
import { NODES } from "./ledger-view.ts";
import type { Ask } from "./network.ts";
import type { Life } from "./scheduler.ts";

/** What is bought, of every kind that is sold: few things, so that payments meet. */
export const SUBJECTS: readonly Subject[] = [
  { kind: "transaction", chain: "algorand", id: "SOURCEALGORAND" },
  { kind: "transaction", chain: "base", id: "0xbase1" },
  { kind: "transaction", chain: "base", id: "0xbase2" },
  { kind: "block", chain: "algorand", height: 70 },
  { kind: "block", chain: "base", height: 100 },
  { kind: "inclusion", chain: "algorand", id: "SOURCEALGORAND", height: 70 },
  { kind: "inclusion", chain: "base", id: "0xbase1", height: 100 },
  {
    kind: "batch",
    items: [
      { chain: "base", id: "0xbase2" },
      { chain: "algorand", id: "SOURCEALGORAND" },
      { chain: "base", id: "0xbase1" },
    ],
  },
];

/** Sources that are never sold, and so never charged for: unknown, in another block, or not final yet. */
export const UNSOLD: readonly Subject[] = [
  { kind: "transaction", chain: "base", id: "0xmissing" },
  { kind: "transaction", chain: "base", id: "0xyoung" },
  { kind: "block", chain: "base", height: 999 },
  { kind: "block", chain: "base", height: 101 },
  { kind: "inclusion", chain: "base", id: "0xbase1", height: 101 },
  { kind: "inclusion", chain: "base", id: "0xbase2", height: 101 },
  {
    kind: "batch",
    items: [
      { chain: "base", id: "0xbase1" },
      { chain: "base", id: "0xyoung" },
    ],
  },
];

type Chain = "algorand" | "base";
type Content = { level: ConfirmationLevel; transactions: readonly string[] };

/** The blocks that there are, by chain and height. */
const BLOCKS: Record<Chain, Readonly<Record<number, Content>>> = {
  algorand: { 70: { level: "finalized", transactions: ["SOURCEALGORAND"] } },
  base: {
    100: { level: "finalized", transactions: ["0xbase1"] },
    101: { level: "safe", transactions: ["0xbase2"] },
    102: { level: "included", transactions: ["0xyoung"] },
  },
};

const FINALIZED = { level: "finalized", retryAfter: 300 } as const;
const REQUIRED: Record<Chain, SourceChain["required"]> = {
  algorand: { transaction: FINALIZED, block: FINALIZED },
  base: { transaction: { level: "safe", retryAfter: 60 }, block: FINALIZED },
};

const CAIP2: Record<Chain, string> = { algorand: "algorand:simulation", base: "eip155:8453" };

/** In which a node has answered, or has failed to, however long the asker would wait, in ms (providers/http.ts). */
const LIMIT_MS = 5_000;

/** A chain of sources as one process reads it: by questions that may fail, each answered from what is there for good. */
export function simulatedSource(name: Chain, life: Life, clock: Pick<Clock, "timeout">, ask: Ask): SourceChain {
  const caip2 = CAIP2[name];
  const read = <T>(what: string, about: string, ends: AbortSignal, work: () => T): Promise<T> => {
    const signal = AbortSignal.any([ends, clock.timeout(LIMIT_MS)]);
    return ask<T>({ life, to: "sources", what, about, signal, serve: (answer) => answer(work()), ...NODES });
  };

  const chain: SourceChain = {
    required: REQUIRED[name],
    transaction: (txnId, signal) =>
      read<SourceTransaction>("source", txnId, signal, () => {
        for (const [height, { level, transactions }] of Object.entries(BLOCKS[name]))
          if (transactions.includes(txnId))
            return {
              ...{ chain: name, caip2, txnId, bytes: utf8(txnId), level },
              block: { hash: `${name}${height}`, height: Number(height), time: Number(height) },
              ...(name === "base" && { succeeded: true }),
            };
        throw new ServiceError("source_not_found", `no transaction ${txnId}`);
      }),
    transactions: (txnIds, signal) => readSingly(chain, txnIds, signal),
    block: (height, signal) =>
      read<SourceBlock>("block", String(height), signal, () => {
        const content = BLOCKS[name][height];
        if (!content) throw new ServiceError("block_not_found", `no block ${height}`);
        const blockHash = `${name}${height}`;
        return {
          chain: name,
          caip2,
          height,
          blockHash,
          header: utf8(blockHash),
          level: content.level,
          async find(txnId) {
            const index = content.transactions.indexOf(txnId);
            if (index < 0) return undefined;
            return {
              prove: (ends) =>
                read("the whole block", String(height), ends, () => ({
                  bytes: utf8(txnId),
                  inclusion: { kind: "mpt", index, nodes: [] },
                })),
            };
          },
        };
      }),
  };
  return chain;
}

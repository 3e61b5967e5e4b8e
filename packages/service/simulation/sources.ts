import { utf8 } from "@attestd/proof/encoding";
import {
  type ConfirmationLevel,
  LEVELS,
  type SourceBlock,
  type SourceChain,
  type SourceTransaction,
} from "../src/chains/chain.ts";
import type { Clock } from "../src/lib/clock.ts";
import { ServiceError } from "../src/lib/errors.ts";
import { ifAny } from "../src/providers/quorum.ts";
import type { Subject } from "../src/subjects/subject.ts";
import { readSingly } from "../test/fakes/read-singly.ts";
import type { Ask } from "./network.ts";
import { NODES, type Nodes, type Sight } from "./nodes.ts";
import type { Random } from "./random.ts";
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

/** What a note says of a transaction that stands on a chain: block, height, time and outcome. */
export function truthOf(chain: string, txnId: string): { b: string; n: number; u: number; s?: 1 } | undefined {
  if (chain !== "algorand" && chain !== "base") return undefined;
  for (const [height, { transactions }] of Object.entries(BLOCKS[chain]))
    if (transactions.includes(txnId))
      return { b: `${chain}${height}`, n: Number(height), u: Number(height), ...(chain === "base" && { s: 1 }) };
  return undefined;
}

/** The hash of a chain's block. */
export function hashOfBlock(chain: string, height: number): string {
  return `${chain}${height}`;
}

/** In which a node has answered, or has failed to, however long the asker would wait, in ms (providers/http.ts). */
const LIMIT_MS = 5_000;

/** A chain of sources as one process reads it: by questions that may fail, each answered from what is there for good. */
export function simulatedSource(
  name: Chain,
  life: Life,
  clock: Pick<Clock, "timeout">,
  ask: Ask,
  { nodes, lies }: { nodes: Nodes; lies: Random },
): SourceChain {
  const caip2 = CAIP2[name];
  const read = <T>(what: string, about: string, ends: AbortSignal, work: () => T): Promise<T> => {
    const signal = AbortSignal.any([ends, clock.timeout(LIMIT_MS)]);
    return ask<T>({ life, to: "sources", what, about, signal, serve: (answer) => answer(work()), ...NODES });
  };

  /**
   * Asks every node for what stands on the chain for good; one that lags may not have it yet.
   *
   * @param absent what it is that there is none
   * @param alter what a node makes of it that lies
   */
  const readAgreed = async <T extends { level: ConfirmationLevel }>(
    what: string,
    about: string,
    ends: AbortSignal,
    work: () => T | undefined,
    { absent, alter, factOf }: { absent: () => Error; alter: (found: T) => T; factOf: (found: T) => string },
  ): Promise<T> => {
    const signal = AbortSignal.any([ends, clock.timeout(LIMIT_MS)]);
    const answer = ({ at, lies, now }: Sight): T | undefined => {
      if (at < now) return undefined;
      const found = work();
      return found && lies ? alter(found) : found;
    };
    const answers = await nodes.agreeOn({
      ...{ list: "sources", to: "sources", what, answer },
      ...ifAny(about, factOf, signal),
    });
    const found = answers.filter((one) => one !== undefined);
    const [first] = found;
    if (!first) throw absent();
    const levels = found.map(({ level }) => LEVELS.indexOf(level));
    return { ...first, level: LEVELS[Math.min(...levels)] as ConfirmationLevel };
  };

  const chain: SourceChain = {
    required: REQUIRED[name],
    transaction: (txnId, signal) =>
      readAgreed<SourceTransaction>(
        "source",
        txnId,
        signal,
        () => {
          for (const [height, { level, transactions }] of Object.entries(BLOCKS[name]))
            if (transactions.includes(txnId))
              return {
                ...{ chain: name, caip2, txnId, bytes: utf8(txnId), level },
                block: { hash: hashOfBlock(name, Number(height)), height: Number(height), time: Number(height) },
                ...(name === "base" && { succeeded: true }),
              };
          return undefined;
        },
        {
          absent: () => new ServiceError("source_not_found", `no transaction ${txnId}`),
          alter: (found) =>
            lies.pick<() => SourceTransaction>([
              () => ({ ...found, ...(name === "base" ? { succeeded: false } : {}), level: "finalized" }),
              () => ({ ...found, level: "finalized" }),
              () => ({ ...found, block: { ...found.block, time: found.block.time + 1 } }),
              () => ({ ...found, block: { ...found.block, hash: "madeup" } }),
            ])(),
          factOf: ({ block, succeeded }) => `${block.hash} ${block.height} ${block.time} ${succeeded}`,
        },
      ),
    transactions: (txnIds, signal) => readSingly(chain, txnIds, signal),
    block: (height, signal) =>
      readAgreed<SourceBlock>(
        "block",
        String(height),
        signal,
        () => {
          const content = BLOCKS[name][height];
          if (!content) return undefined;
          const blockHash = hashOfBlock(name, height);
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
        },
        {
          absent: () => new ServiceError("block_not_found", `no block ${height}`),
          alter: (found) =>
            lies.pick<() => SourceBlock>([
              () => ({ ...found, level: "finalized" }),
              () => ({ ...found, blockHash: "madeup", header: utf8("madeup") }),
            ])(),
          factOf: ({ blockHash }) => blockHash,
        },
      ),
  };
  return chain;
}

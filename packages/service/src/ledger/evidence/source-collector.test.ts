import { decodeMsgpackMap, encodeMsgpack } from "@attestd/proof/algorand";
import { fromBase64, toBase64 } from "@attestd/proof/encoding";
import { expect, test, vi } from "vitest";
import { testEvidence } from "../../../../../test/bundles/evidence.ts";
import type { Algod } from "../../providers/algod.ts";
import type { AlgorandNodes } from "../../providers/algorand-nodes.ts";
import { unavailable } from "../../providers/provider.ts";
import { createSourceCollector } from "./source-collector.ts";
import type { SourceJournal, SourceStep, UnfinishedSource } from "./source-journal.ts";
import type { FoundStateProof } from "./state-proofs.ts";
import type { EvidenceWork } from "./threads.ts";
import * as work from "./work.ts";

const ROUND = 995;
const HOUR = 60 * 60_000;
const { bundle, block: ofBlock, sourceInclusion, sourceStateProof } = testEvidence();
const { txnId } = bundle.source;
const { blockHash } = ofBlock.block;
const { headerBase64 } = sourceInclusion;
const { message, checkpoint, stateProofSha256, siblings } = sourceStateProof;
const header = { headerBase64 };
const PROVEN: FoundStateProof = { sha256: stateProofSha256, message, checkpoint };
/** As nodes give them: the block of the source, without its transactions, and that of another hash. */
const BLOCK = encodeMsgpack(new Map([["block", decodeMsgpackMap(fromBase64(headerBase64))]]));
const OTHER = encodeMsgpack(new Map([["block", decodeMsgpackMap(fromBase64(headerBase64)).set("fees", 1)]]));
const LIGHT = { index: 2, siblings: Buffer.concat(siblings.map(fromBase64)) };

type Node = { block?: () => Promise<Uint8Array | undefined>; lightHeader?: () => Promise<typeof LIGHT | undefined> };
const gone = async () => undefined;
const silent = () => Promise.reject(unavailable("no answer"));

/** Collects once for sources in a state, prepared at 0, from nodes that answer so. */
async function collect(
  state: "waiting" | "included",
  nodes: Node[],
  {
    now = 0,
    sources = [{ id: "a", blockHash, since: 0, ...(state === "included" && { header }) }],
    found = PROVEN,
    newest,
  }: {
    now?: number;
    sources?: UnfinishedSource[];
    found?: FoundStateProof;
    newest?: Uint8Array;
  } = {},
) {
  const steps: SourceStep[] = [];
  const postponed: number[] = [];
  let isDue = true;
  const journal: SourceJournal = {
    dueSourceRound: async (of) => (of === state && isDue ? ROUND : undefined),
    unfinishedSources: async () => sources,
    async stepSources(taken) {
      steps.push(...taken);
      isDue = false;
    },
    async postponeSources(_, __, due) {
      postponed.push(due);
      isDue = false;
    },
    source: async () => undefined,
  };
  const algods = nodes.map(({ block = gone, lightHeader = gone }, index) => {
    return {
      name: `node ${index}`,
      block: vi.fn(block),
      lightHeader: vi.fn(lightHeader),
      lastRound: async () => 2_000,
    };
  });
  const stop = new AbortController();
  const collector = createSourceCollector({
    journal,
    nodes: { algods: algods as unknown as Algod[] } as unknown as AlgorandNodes,
    newest: { latest: () => 2_000, block: () => newest },
    work: { includeSources: async (...args) => work.includeSources(...args) } as EvidenceWork,
    clock: { now: () => now, timeout: () => stop.signal, sleep: async () => undefined } as never,
    log: { warn: () => undefined } as never,
    proofOf: async () => found,
  });
  await collector.collect(stop.signal);
  return {
    steps,
    postponed,
    asked: algods.map(({ block, lightHeader }) => block.mock.calls.length + lightHeader.mock.calls.length),
  };
}

const included = [{ id: "a", to: "included", header }];
const absent = [{ id: "a", to: "absent" }];

test("a block that the ledger's watcher has read is asked of no node", async () => {
  expect(await collect("waiting", [{ block: silent }], { newest: BLOCK })).toEqual({
    steps: included,
    postponed: [],
    asked: [0],
  });
});

test("a node that lies, is silent or has forgotten the block is not the last that is asked", async () => {
  for (const block of [async () => OTHER, silent, gone, async () => fromBase64("AAAA")])
    expect(await collect("waiting", [{ block }, { block: async () => BLOCK }])).toEqual({
      steps: included,
      postponed: [],
      asked: [1, 1],
    });
});

test("what no node shows is tried again, and given up after an hour", async () => {
  for (const block of [gone, async () => OTHER, silent]) {
    expect(await collect("waiting", [{}, { block }], { now: HOUR })).toMatchObject({
      steps: [],
      postponed: [HOUR + 15_000],
    });
    expect(await collect("waiting", [{}, { block }], { now: HOUR + 1 })).toMatchObject({
      steps: absent,
      postponed: [],
    });
  }
});

test("what no node shows keeps no other source of its round back", async () => {
  const sources = [
    { id: "a", blockHash, since: 0 },
    { id: "b", blockHash: ofBlock.block.hashSha256, since: 0 },
  ];
  for (const block of [async () => OTHER, silent])
    expect(await collect("waiting", [{ block }, { block: async () => BLOCK }], { sources })).toMatchObject({
      steps: included,
      postponed: [15_000],
    });
});

test("a transaction that is not in the block is not shown there, whatever the node says", async () => {
  const sources = [{ id: "a", blockHash, txnId, since: 0 }];
  // The node has left the transactions out.
  expect(await collect("waiting", [{ block: async () => BLOCK }], { sources })).toMatchObject({
    steps: [],
    postponed: [15_000],
  });
});

test("a round that is proven is whole by the way to the commitment, and by no other", async () => {
  const lightHeader = async () => LIGHT;
  const whole = { id: "a", to: "whole", siblings, stateProofSha256 };
  expect(await collect("included", [{ lightHeader }])).toEqual({ steps: [whole], postponed: [], asked: [1] });
  const wrong = async () => ({ ...LIGHT, siblings: Buffer.from(LIGHT.siblings).reverse() });
  expect(await collect("included", [{ lightHeader: wrong }, { lightHeader }])).toMatchObject({ steps: [whole] });
  expect(await collect("included", [{ lightHeader: wrong }])).toMatchObject({ steps: [], postponed: [15_000] });
  expect(await collect("included", [{}])).toMatchObject({ steps: [], postponed: [15_000] });
});

test("a round is left until its state proof is there, and given up where it never will be", async () => {
  const early = { found: "early" } as const;
  const tracking = new Map([[0, new Map([["n", 1008]])]]);
  const later = encodeMsgpack(decodeMsgpackMap(fromBase64(headerBase64)).set("spt", tracking));
  const sources = [{ id: "a", blockHash, since: 0, header: { headerBase64: toBase64(later) } }];
  expect(await collect("included", [{}], { ...early, sources })).toEqual({ steps: [], postponed: [], asked: [0] });
  const forgotten = { found: "forgotten" } as const;
  expect(await collect("included", [{}], { ...forgotten, sources })).toMatchObject({ steps: [], postponed: [15_000] });
  expect(await collect("included", [{}], { found: "never", sources })).toMatchObject({ steps: absent });
  // Its header names no state proof to come: the network made none.
  for (const found of [early, forgotten])
    expect(await collect("included", [{}], found)).toMatchObject({ steps: absent });
});

test("all sources of a round rest on one answer", async () => {
  const sources = Array.from({ length: 300 }, (_, n) => ({ id: `${n}`, blockHash, since: 0 }));
  const { steps, asked } = await collect("waiting", [{ block: async () => BLOCK }], { sources });
  expect([steps.length, asked]).toEqual([300, [1]]);
});

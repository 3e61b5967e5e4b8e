import { join } from "node:path";
import { bundleId, verify } from "@attestd/proof";
import { decodeMsgpackMap, encodeMsgpack, getMap, structMap } from "@attestd/proof/algorand";
import { fromBase64, toBase64 } from "@attestd/proof/encoding";
import { withEvidence } from "@attestd/proof/evidence";
import { expect, test, vi } from "vitest";
import { testEvidence } from "../../../../../test/bundles/evidence.ts";
import { temporaryFolder } from "../../../../../test/helpers/temporary-folder.ts";
import { deliverIn } from "../../../test/journal-contract/evidence.ts";
import type { SealedSource } from "../../attestor/attestor.ts";
import { openSqliteJournal } from "../../journal/sqlite/journal.ts";
import { unavailable } from "../../providers/provider.ts";
import { createCollector } from "./collector.ts";
import { evidenceFileOf } from "./evidence-file.ts";
import * as work from "./work.ts";

const own = testEvidence();
const { bundle, inclusion, stateProof, sourceStateProof, sourceInclusion, blocks, evidence } = own;
const { txnId, round: ROUND } = bundle.attest;
const SOURCE_ROUND = 995;
const HOUR = 60 * 60_000;
const ID = bundleId(bundle);
const SOURCE: SealedSource = {
  ...{ id: ID, round: SOURCE_ROUND, txnId: bundle.source.txnId },
  blockHash: own.block.block.blockHash,
};

const lightOf = ({ siblings }: { siblings: string[] }) => ({
  index: 2,
  siblings: Buffer.concat(siblings.map(fromBase64)),
});
const LIGHT = { [ROUND]: lightOf(stateProof), [SOURCE_ROUND]: lightOf(sourceStateProof) };
const WRONG = { index: 2, siblings: Buffer.from(lightOf(stateProof).siblings).reverse() };
/** A block without its transactions, and one of another hash with them. */
const withoutTransactions = (answer: Uint8Array) => altered(answer, (block) => block.delete("txns"));
const otherHash = (answer: Uint8Array) => altered(answer, (block) => block.set("fees", new Uint8Array(32)));

function altered(answer: Uint8Array, change: (block: Map<unknown, unknown>) => void): Uint8Array {
  const block = getMap(decodeMsgpackMap(answer), "block") as Map<unknown, unknown>;
  change(block);
  return encodeMsgpack(structMap({ block: block as never }));
}

type Answer<T> = () => Promise<T | undefined>;
type Node = { [K in "block" | "light"]?: Partial<Record<number, Answer<never>>> };
const gives = (value: unknown) => async () => value as never;
const gone: Answer<never> = async () => undefined;
const silent = (): Promise<never> => Promise.reject(unavailable("no answer"));
const HONEST: Node = {
  block: { [ROUND]: gives(blocks.record), [SOURCE_ROUND]: gives(blocks.source) },
  light: { [ROUND]: gives(LIGHT[ROUND]), [SOURCE_ROUND]: gives(LIGHT[SOURCE_ROUND]) },
};

/** A collector over a journal of one delivered bundle. `watched`: blocks that the ledger's watcher has. */
async function setUp(sources: SealedSource[] = [], deliveredAt = 1_000) {
  const folder = await temporaryFolder();
  const journal = await openSqliteJournal(join(folder.path, "journal.sqlite"));
  await deliverIn(journal, txnId, ROUND, { id: ID, body: JSON.stringify(bundle), sources, createdAt: deliveredAt });
  const { message, checkpoint, stateProofSha256: sha256, stateProofBase64 = "" } = stateProof;
  const asked: string[] = [];
  const warned: string[] = [];

  async function collect(
    nodes: Node[],
    { now: first = 1_000, later = [] as number[], watched = {} as Record<number, Uint8Array>, isProven = true } = {},
  ) {
    let now = first;
    if (isProven) await journal.keepStateProof({ sha256, message, checkpoint }, fromBase64(stateProofBase64));
    const algods = nodes.map(({ block = {}, light = {} }, n) => {
      const answer = (kind: string, answers: Partial<Record<number, Answer<never>>>) => (round: number) => {
        asked.push(`${kind} ${round} of ${n}`);
        return (answers[round] ?? gone)();
      };
      const lastRound = async () => 2_000;
      const answers = { block: answer("block", block), lightHeader: answer("light", light), lastRound };
      return { name: `node ${n}`, ...answers, provenRounds: gone };
    });
    const stop = new AbortController().signal;
    asked.length = 0;
    const collector = createCollector({
      journal,
      nodes: { algods } as never,
      newest: { latest: () => 0, block: (round) => watched[round] },
      genesisHash: checkpoint.genesisHash,
      work: { include: work.include, judge: async () => undefined } as never,
      clock: { now: () => now, timeout: () => stop, sleep: async () => undefined } as never,
      log: { warn: (_: object, line: string) => warned.push(line) } as never,
    });
    for (now of [first, ...later]) await collector.collect(stop);
    return [...asked];
  }

  return {
    journal,
    collect,
    state: async (kind: "record" | "source" = "record", id = ID) => {
      const kept = await journal.evidence(kind, id);
      return kept?.block?.state ?? kept?.state;
    },
    async [Symbol.asyncDispose]() {
      await journal.close();
      await folder[Symbol.asyncDispose]();
    },
  };
}

test("what is collected is what any verifier takes for whole, without a look at more than one bundle of a round", async () => {
  await using one = await setUp([SOURCE]);
  const { journal, collect } = one;
  // Bundles whose attestations no block has: were they read, they would not verify.
  const verifiable = vi.spyOn(journal, "verifiable");
  for (let n = 0; n < 3; n++) await deliverIn(journal, `UNKNOWN ${n}`, ROUND + 1, { createdAt: 1_000 });
  expect(await collect([HONEST])).toEqual([
    ...[`block ${ROUND} of 0`, `block ${ROUND + 1} of 0`, `block ${SOURCE_ROUND} of 0`],
    ...[`light ${SOURCE_ROUND} of 0`, `light ${ROUND} of 0`],
  ]);
  const evidenceFile = await evidenceFileOf(journal, ID, { isDetached: false });
  const expected = { ...evidence, items: expect.arrayContaining(evidence.items) };
  expect(evidenceFile).toEqual({ isWhole: true, mayGrow: false, evidence: expected });
  const kept = (evidenceFile as { evidence: typeof evidence }).evidence;
  const judged = withEvidence(verify(JSON.stringify(bundle)), JSON.stringify(bundle), kept, {
    checkpoints: [own.checkpoint],
  });
  expect(judged.evidence).toMatchObject({
    ...{ inclusion: "pass", stateProof: "pass", authorisation: "pass" },
    ...{ sourceInclusion: "pass", sourceStateProof: "pass" },
  });
  expect(verifiable).toHaveBeenCalledTimes(2);
});

test("a round is shown by the ids alone, and not at all where its first record does not verify with its bundle", async () => {
  await using one = await setUp();
  const { journal, collect } = one;
  await deliverIn(journal, "ANOTHER", ROUND, { id: "~", body: JSON.stringify(own.block) });
  const shown = await work.include(blocks.record, ROUND, [{ txnId }], JSON.stringify(own.block));
  expect(shown.found).toEqual([undefined]);
  const right = await work.include(blocks.record, ROUND, [{ txnId }, { txnId: "MISSING" }], JSON.stringify(bundle));
  const { index, stibBase64, siblings } = inclusion;
  expect(right).toEqual({
    headerBase64: inclusion.headerBase64,
    found: [{ inclusion: { index, stibBase64, siblings } }, undefined],
  });
  await collect([HONEST]);
  expect([await one.state(), await one.state("record", "~")]).toEqual(["whole", "waiting"]);
});

test("a block that the ledger's watcher has read is asked of no node", async () => {
  await using one = await setUp([SOURCE]);
  const watched = { [ROUND]: blocks.record, [SOURCE_ROUND]: blocks.source };
  expect(await one.collect([{ light: HONEST.light ?? {} }], { watched })).toEqual([
    `light ${SOURCE_ROUND} of 0`,
    `light ${ROUND} of 0`,
  ]);
  expect([await one.state(), await one.state("source")]).toEqual(["whole", "whole"]);
});

test("a node that lies, is silent or has forgotten the block is not the last that is asked", async () => {
  const bad = [
    gives(otherHash(blocks.source)),
    gives(withoutTransactions(blocks.source)),
    silent,
    gone,
    gives(fromBase64("AAAA")),
  ];
  for (const answer of bad) {
    await using one = await setUp([SOURCE]);
    await one.collect([{ ...HONEST, block: { ...HONEST.block, [SOURCE_ROUND]: answer } }, HONEST]);
    expect(await one.state("source")).toBe("whole");
  }
});

test("a source that no node shows is tried again, and given up after an hour; a record is never given up", async () => {
  for (const answer of [gone, gives(otherHash(blocks.source)), silent]) {
    await using one = await setUp([SOURCE]);
    const nodes = [{ block: { [ROUND]: answer, [SOURCE_ROUND]: answer } }];
    await one.collect(nodes, { now: HOUR });
    expect(await one.journal.dueRound("source", HOUR + 14_999)).toBeUndefined();
    expect(await one.journal.dueRound("source", HOUR + 15_000)).toBe(SOURCE_ROUND);
    await one.collect(nodes, { now: HOUR + 60_000 });
    expect([await one.state("source"), await one.state()]).toEqual(["absent", "waiting"]);
  }
});

test("what no node shows keeps nothing else of its round back", async () => {
  const unshown = { ...SOURCE, id: "unshown", blockHash: own.block.block.hashSha256 };
  await using one = await setUp([SOURCE, unshown]);
  await one.collect([HONEST]);
  expect([await one.state("source"), await one.state("source", "unshown")]).toEqual(["whole", "waiting"]);
});

test("a block is whole by the way to the commitment of the state proof, and by no other", async () => {
  await using one = await setUp();
  const light = (...answers: Answer<never>[]) => answers.map((answer) => ({ light: { [ROUND]: answer } }));
  await one.collect([{ ...HONEST, light: {} }]);
  expect(await one.journal.dueRound("block", 15_999)).toBeUndefined();
  expect(await one.journal.dueRound("block", 16_000)).toBe(ROUND);
  await one.collect(light(silent), { now: 20_000 });
  expect(await one.state()).toBe("open");
  await one.collect(light(gone, gives(WRONG), silent, gives(LIGHT[ROUND])), { now: 20_000_000 });
  expect(await one.state()).toBe("whole");
});

test("what was included by a header that nobody signed for begins again", async () => {
  await using one = await setUp();
  const { index, stibBase64, siblings } = inclusion;
  const headerBase64 = toBase64(fromBase64(inclusion.headerBase64).with(-1, 1));
  await one.journal.include("record", { round: ROUND, headerBase64, due: 0 }, [
    { id: ID, inclusion: { index, stibBase64, siblings } },
  ]);
  await one.collect([{ light: HONEST.light ?? {} }]);
  expect(await one.state()).toBe("waiting");
  await one.collect([HONEST], { now: 20_000 });
  expect(await one.state()).toBe("whole");
});

test("a block is left until its state proof is there; a source whose network made none then is not waited for", async () => {
  await using one = await setUp([SOURCE]);
  const header = decodeMsgpackMap(fromBase64(sourceInclusion.headerBase64));
  // The newest header names a state proof to come, and those of these blocks none.
  const newest = encodeMsgpack(
    structMap({ block: header.set("spt", new Map([[0, new Map([["n", 1008]])]])) as never }),
  );
  const asked = await one.collect([HONEST], { isProven: false, watched: { 0: newest } });
  expect(asked.filter((request) => request.startsWith("light"))).toEqual([]);
  expect([await one.state(), await one.state("source")]).toEqual(["open", "impossible"]);
});

test("all sources of a round rest on one answer", async () => {
  const sources = Array.from({ length: 600 }, (_, n) => ({ ...SOURCE, id: `item ${n}` }));
  await using one = await setUp(sources);
  const asked = await one.collect([{ ...HONEST, block: { ...HONEST.block, [SOURCE_ROUND]: gone } }, HONEST], {
    watched: { [SOURCE_ROUND]: blocks.source },
  });
  expect(asked.filter((request) => request.includes(`${SOURCE_ROUND}`))).toEqual([`light ${SOURCE_ROUND} of 0`]);
  for (const n of [0, 255, 256, 599]) expect(await one.state("source", `item ${n}`)).toBe("whole");
});

test("a journal that is away is told once by the collector's log, and again after it was there", async () => {
  const stop = new AbortController();
  const warned: string[] = [];
  const answers = [false, true, true, false, true, true];
  const collector = createCollector({
    journal: {
      async collects() {
        if (answers.shift()) throw new Error("away");
        if (answers.length === 0) stop.abort();
        return false;
      },
    },
    clock: { sleep: async () => undefined },
    log: { warn: (_: object, line: string) => warned.push(line) },
  } as never);
  await collector.run(stop.signal);
  expect(warned).toEqual(["evidence cannot be collected", "evidence cannot be collected"]);
});

test("a node that lies in a header about the next state proof neither ends evidence nor keeps it back", async () => {
  const naming = (n: number) => (block: Map<unknown, unknown>) =>
    void block.set("spt", new Map([[0, new Map([["n", n]])]]));
  const newest = altered(blocks.source, naming(ROUND + 1_000));
  const late = { ...stateProof, message: { ...stateProof.message, firstAttestedRound: 1009, lastAttestedRound: 1024 } };
  // Of a round far ahead, of one whose state proof begins after the record, and of one that is not yet made.
  for (const n of [Number.MAX_SAFE_INTEGER, 1024, ROUND + 10_000]) {
    await using one = await setUp();
    const liar = { ...HONEST, block: { [ROUND]: gives(altered(blocks.record, naming(n))) } };
    const { message, checkpoint } = late;
    await one.journal.keepStateProof({ sha256: "late", message, checkpoint }, new Uint8Array());
    // The liar stays the first of the settings.
    await one.collect([liar, HONEST], { watched: { 0: newest }, later: [60_000] });
    expect(await one.state()).toBe("whole");
  }
});

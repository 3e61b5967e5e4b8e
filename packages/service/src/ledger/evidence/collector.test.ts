import { fromBase64, toBase64 } from "@attestd/proof/encoding";
import { expect, test } from "vitest";
import { testEvidence } from "../../../../../test/bundles/evidence.ts";
import { unavailable } from "../../providers/provider.ts";
import { createCollector } from "./collector.ts";
import type { EvidenceState, EvidenceStep } from "./journal.ts";

const { bundle, inclusion, stateProof } = testEvidence();
const { txnId, round } = bundle.attest;
const { message, checkpoint, stateProofSha256, siblings } = stateProof;
const PATH = siblings.map(fromBase64);
const LIGHT = { index: 2, siblings: Buffer.concat(PATH) };
const WRONG = { ...LIGHT, siblings: Buffer.from(LIGHT.siblings).reverse() };
const whole = { txnId, to: "whole", siblings, stateProofSha256 };

type LightHeader = () => Promise<typeof LIGHT | undefined>;

/** Collects once for attestations of a round whose state proof is kept, by the headers by which they were included. */
async function collect(headers: Record<string, string>, ...lightHeaders: LightHeader[]) {
  const steps: EvidenceStep[] = [];
  const postponed: [state: string, round: number][] = [];
  const states = new Map<string, EvidenceState>(Object.keys(headers).map((id) => [id, "included"]));
  const isAny = (state: string) => postponed.length === 0 && [...states.values()].includes(state as EvidenceState);
  const stop = new AbortController();
  const collector = createCollector({
    journal: {
      collects: async () => true,
      dueRound: async (state: string) => (isAny(state) ? round : undefined),
      included: async (_: number, limit: number) =>
        [...states]
          .filter(([, own]) => own === "included")
          .slice(0, limit)
          .map(([id]) => ({ txnId: id, inclusion: { ...inclusion, headerBase64: headers[id] } })),
      waiting: async () => [],
      unfinishedRounds: async () => [round],
      async step(taken: EvidenceStep[]) {
        steps.push(...taken);
        for (const one of taken) states.set(one.txnId, one.to);
      },
      postpone: async (state: string) => void postponed.push([state, round]),
      stateProofOf: async () => ({ sha256: stateProofSha256, message, checkpoint }),
      stateProof: async () => new Uint8Array(1),
      dueSourceRound: async () => undefined,
    } as never,
    nodes: { algods: lightHeaders.map((lightHeader, n) => ({ name: `node ${n}`, lightHeader })) } as never,
    newest: { latest: () => round, block: () => undefined },
    genesisHash: checkpoint.genesisHash,
    work: {} as never,
    clock: { now: () => 0, timeout: () => stop.signal, sleep: async () => undefined } as never,
    log: { warn: () => undefined } as never,
  });
  await collector.collect(stop.signal);
  return { steps, postponed };
}

const { headerBase64 } = inclusion;
/** The header of a block that a node has made up. */
const MADE_UP = toBase64(fromBase64(headerBase64).with(-1, 1));

test("attestations of a round are whole by the way to the commitment, and by no other", async () => {
  expect(await collect({ [txnId]: headerBase64 }, async () => LIGHT)).toEqual({ steps: [whole], postponed: [] });
  const nodes = [async () => undefined, async () => WRONG, () => Promise.reject(unavailable("no answer"))];
  expect(await collect({ [txnId]: headerBase64 }, ...nodes, async () => LIGHT)).toEqual({
    steps: [whole],
    postponed: [],
  });
});

test("what was included by a header that nobody signed for begins again, and the others of its round are whole", async () => {
  const back = { txnId: "LIED", to: "waiting" };
  expect(await collect({ [txnId]: headerBase64, LIED: MADE_UP }, async () => LIGHT)).toEqual({
    steps: [whole, back],
    postponed: [["waiting", round]],
  });
});

test("a round of which no node gives the way is tried again, and what was included stays", async () => {
  const later = { steps: [], postponed: [["included", round]] };
  expect(await collect({ [txnId]: headerBase64 }, async () => undefined)).toEqual(later);
  expect(await collect({ [txnId]: headerBase64 }, () => Promise.reject(unavailable("no answer")))).toEqual(later);
});

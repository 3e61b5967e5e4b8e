import { MAX_BUNDLE_BYTES } from "@attestd/proof";
import type { Call } from "../calls/call.ts";
import type { Journal } from "../calls/journal.ts";
import type {
  BlockStep,
  EvidenceJournal,
  EvidenceKind,
  KeptBlock,
  KeptEvidence,
  KeptStateProof,
  Waiting,
} from "../ledger/evidence/journal.ts";
import { withHead } from "../subjects/batch-answer.ts";
import type { SHARED } from "./statements.ts";

/** Runs a statement, in a commit of its own where it writes. @returns its rows, JSON and what the driver has no type for as text */
export type Ask = <R extends object>(name: keyof typeof SHARED, ...values: unknown[]) => Promise<R[]>;

type BundleReads = Pick<Journal, "stored" | "bodyOf" | "partsOf">;

/** A state proof as its row has it. */
type ProofRow = { sha256: string; message: string; checkpoint: string };
type KeptRow = Pick<KeptEvidence, "id" | "state" | "round"> & {
  inclusion: string | null;
  block: KeptBlock["state"] | null;
  header: string;
  siblings: string;
} & (ProofRow | { [column in keyof ProofRow]: null });

/** The journal of evidence in either database. */
export function evidenceJournal(ask: Ask, bundles: BundleReads): Omit<EvidenceJournal, "collects"> {
  const { stored, bodyOf, partsOf } = bundles;
  return {
    async dueRound(queue, now) {
      const rows =
        queue === "block" ? ask<{ round: number }>("dueBlock", now) : ask<{ round: number }>("dueEvidence", queue, now);
      return (await rows)[0]?.round;
    },
    async unfinishedRounds() {
      return (await ask<{ round: number }>("unfinishedRounds")).map(({ round }) => round);
    },
    async postpone(queue, round, due, before) {
      const times = [round, due, before];
      const rows = queue === "block" ? ask("postponeBlock", ...times) : ask("postponeEvidence", queue, ...times);
      const states = (await rows) as { state: string }[];
      const left = states.filter(({ state }) => state === "open" || state === "waiting").length;
      return { left, given: states.length - left };
    },
    async waiting(kind, round, after, limit) {
      return (await ask("waiting", kind, round, after, limit)).map((row) => present<Waiting>(row));
    },
    async verifiable(id) {
      const found = await stored(id);
      if (!found) return undefined;
      const body = await bodyOf(found.bundleId);
      if (body === undefined) return (await partsOf(found.bundleId, 0, MAX_BUNDLE_BYTES)).join("");
      const [first] = found.parts > 0 ? await partsOf(found.bundleId, 0, 0) : [];
      return first === undefined ? body : withHead(body, first);
    },
    async include(kind, { round, headerBase64, due }, shown) {
      const kept = await ask("keepBlock", round, due, headerBase64);
      if (kept.length === 0) return false;
      const inclusions = Object.fromEntries(shown.map(({ id, inclusion = null }) => [id, inclusion]));
      await ask("include", kind, round, headerBase64, JSON.stringify(inclusions));
      return true;
    },
    openBlock: async (round) => (await ask<{ header: string }>("openBlock", round))[0]?.header,
    stepBlock,
    async keepStateProof({ sha256, message, checkpoint }, content) {
      const { firstAttestedRound, lastAttestedRound } = message;
      const json = [JSON.stringify(message), JSON.stringify(checkpoint)];
      await ask("keepStateProof", sha256, firstAttestedRound, lastAttestedRound, ...json, content);
    },
    async stateProofOf(round) {
      const [row] = await ask<ProofRow>("stateProofOf", round);
      return row && proofOf(row);
    },
    stateProof: async (sha256) => (await ask<{ content: Uint8Array }>("stateProof", sha256))[0]?.content,
    async evidence(kind, id) {
      const [row] = await ask<KeptRow>("evidenceOfBundle", kind, id);
      if (!row) return undefined;
      const { inclusion, block, header, siblings, sha256, message, checkpoint, ...own } = row;
      const stake = sha256 !== null && { ...proofOf({ sha256, message, checkpoint }), siblings: JSON.parse(siblings) };
      return {
        ...own,
        ...(block && { block: { state: block, headerBase64: header, ...(stake && { stake }) } }),
        ...(inclusion !== null && { inclusion: JSON.parse(inclusion) }),
      };
    },
    oldestUnfinished: async () => (await ask<{ round: number; since: number }>("oldestUnfinished"))[0],
  };

  async function stepBlock(step: BlockStep): Promise<void> {
    const { round } = step;
    if (step.to === "whole") await ask("proveBlock", round, JSON.stringify(step.siblings), step.stateProofSha256);
    else if (step.to === "impossible") await ask("leaveBlock", round);
    else {
      // Records and sources first: a block in which one stands is not removed.
      await ask("exclude", round);
      await ask("dropBlock", round);
    }
  }
}

function proofOf({ sha256, message, checkpoint }: ProofRow): KeptStateProof {
  return { sha256, message: JSON.parse(message), checkpoint: JSON.parse(checkpoint) };
}

/** The columns that are not NULL. */
function present<T>(row: object): T {
  return Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null)) as T;
}

/** A row of the evidence that begins with a delivery. */
export type BegunEvidence = {
  kind: EvidenceKind;
  id: string;
  round: number;
  since: number;
  txnId: string | null;
  blockHash: string | null;
};

/** What begins with the commit that delivers a bundle: the evidence of its record, and of its sources. */
export function begunEvidence({ attempts, bundle, createdAt: since, round = 0 }: Call): BegunEvidence[] {
  const txnId = attempts.at(-1)?.txid;
  if (!bundle || txnId === undefined) return [];
  const sources = (bundle.sources ?? []).map(({ id, round, blockHash, txnId = null }) => ({
    id,
    round,
    blockHash,
    txnId,
  }));
  return [
    { kind: "record", id: bundle.id, round, since, txnId, blockHash: null },
    ...sources.map((source) => ({ kind: "source" as const, since, ...source })),
  ];
}

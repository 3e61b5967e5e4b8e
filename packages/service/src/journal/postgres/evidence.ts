import { MAX_BUNDLE_BYTES } from "@attestd/proof";
import type { Journal } from "../../calls/journal.ts";
import type {
  Delivered,
  EvidenceJournal,
  Included,
  KeptEvidence,
  KeptStateProof,
} from "../../ledger/evidence/journal.ts";
import { type EvidenceRow, keptOf, MAX_WAITING_BYTES, verifiableText } from "../evidence-rows.ts";
import type { Ask, PackedBody } from "./reader.ts";

type WaitingRow = PackedBody & { txnId: string; bundleId: string; parts: number };

/** How the bundle of a row is read. */
type BundleReads = Pick<Journal, "partsOf"> & { bodyOf(row: PackedBody): Promise<string | null> };

/** @param me the id of this replica */
export function evidenceJournal(ask: Ask, me: string, { bodyOf, partsOf }: BundleReads): EvidenceJournal {
  return {
    collects: async () => (await ask<{ collects: boolean }>("collects", me))[0]?.collects ?? false,
    dueRound: async (state, now) => (await ask<{ round: number }>("dueRound", state, now))[0]?.round,
    async waiting(round, limit) {
      const found: Delivered[] = [];
      let bytes = 0;
      for (const row of await ask<WaitingRow>("waiting", round, limit)) {
        if (bytes > MAX_WAITING_BYTES) break;
        const { txnId, bundleId, parts } = row;
        const body = await bodyOf(row);
        const read = parts > 0 ? await partsOf(bundleId, 0, body === null ? MAX_BUNDLE_BYTES : 0) : [];
        const bundle = verifiableText(body, read);
        found.push({ txnId, bundle });
        bytes += bundle.length;
      }
      return found;
    },
    included: (round, limit) => ask<Included>("included", round, limit),
    async unfinishedRounds(state, first, last) {
      const rows = await ask<{ round: number }>("unfinishedRounds", state, first, last);
      return rows.map(({ round }) => round);
    },
    step: async (steps) => void (await ask("step", JSON.stringify(steps))),
    postpone: async (state, round, due) => void (await ask("postpone", state, round, due)),
    async keepStateProof({ sha256, message, checkpoint }, content) {
      const { firstAttestedRound, lastAttestedRound } = message;
      const json = [JSON.stringify(message), JSON.stringify(checkpoint)];
      await ask("keepStateProof", sha256, firstAttestedRound, lastAttestedRound, ...json, content);
    },
    stateProofOf: async (round) => (await ask<KeptStateProof>("stateProofOf", round))[0],
    stateProof: async (sha256) => (await ask<{ content: Buffer }>("stateProof", sha256))[0]?.content,
    async evidence(id) {
      const [row] = await ask<EvidenceRow<KeptEvidence>>("ledgerEvidence", id);
      return row && keptOf<KeptEvidence>(row);
    },
    oldestUnfinished: async () => (await ask<{ round: number; since: number }>("oldestUnfinished"))[0],
  };
}

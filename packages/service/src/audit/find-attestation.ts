import { noteOrFault, paymentCommitment } from "@attestd/proof/attestor";
import { ATTEMPT_ROUNDS, type Attempt, type Rounds } from "../ledger/ledger.ts";
import type { LedgerNote } from "../ledger/search.ts";
import { ServiceError } from "../lib/errors.ts";
import type { ChainHeights, Span } from "../providers/reading.ts";

/** A payment's attestation as recorded on the ledger. */
export type FoundAttestation = { attempt: Attempt; text: string };

export type AttestationSearchOptions = {
  /** Reads the ledger's heights. */
  reader: ChainHeights;
  /** Unix s from which on attestations are searched. */
  since: number;
  /** Lists the transactions that name the attestor's account, each with its bytes. */
  notes(span: Span): AsyncIterable<LedgerNote & { attempt: Attempt }>;
  attestor: { algorandAddress: string };
  rounds: Pick<Rounds, "latest" | "next" | "isCurrent">;
  /** Ends every search. */
  signal: AbortSignal;
  /** Called once when rounds must pass first, with the last of them. */
  onWait(round: number): void;
};

/**
 * Finds the attestations of payments whose calls another process may have continued, from another journal. Such a
 * process must no longer run.
 *
 * The ledger is read once for all of them, at the first question, and once more when no further attestation can come.
 * @param keys payment keys of the calls
 * @returns the attestation of one of these payments; undefined when the ledger has none and can get none any more
 * @throws not_allowed when there are several; ProviderError: the next question reads again
 */
export function searchAttestations(
  keys: Iterable<string>,
  options: AttestationSearchOptions,
): (key: string) => Promise<FoundAttestation | undefined> {
  const { reader, since, rounds, signal, onWait } = options;
  const wanted = new Set([...keys].map(paymentCommitment));

  const early = onceDone(async () => {
    // Until then the other process may have seen later rounds than we have.
    while (!rounds.isCurrent()) await rounds.next(signal);
    // An attempt is valid from a round that its signer has seen, and for no more rounds than this.
    const settled = rounds.latest() + ATTEMPT_ROUNDS;
    const { latest } = await reader.heads();
    const from = await reader.heightAt(since, latest);
    return { settled, latest, found: await attestationsIn({ from, to: latest }, wanted, options) };
  });
  const late = onceDone(async () => {
    const { settled, latest: seen } = await early();
    onWait(settled);
    let latest = seen;
    while (latest < settled) {
      await rounds.next(signal);
      if (rounds.latest() >= settled) latest = (await reader.heads()).latest;
    }
    return attestationsIn({ from: seen, to: latest }, wanted, options);
  });

  return async (key) => {
    const commitment = paymentCommitment(key);
    if (!wanted.has(commitment)) return undefined;
    const { found } = await early();
    return only(found.get(commitment)) ?? only((await late()).get(commitment));
  };
}

/** Runs work once, when it is first asked for; failed work is repeated. */
function onceDone<T>(work: () => Promise<T>): () => Promise<T> {
  let done: Promise<T> | undefined;
  return () => {
    done ??= work().catch((error: unknown) => {
      done = undefined;
      throw error;
    });
    return done;
  };
}

/** Lists the attestations within the span by their commitments to payments. */
async function attestationsIn(
  span: Span,
  wanted: ReadonlySet<string>,
  { notes, attestor }: AttestationSearchOptions,
): Promise<Map<string, FoundAttestation[]>> {
  const found = new Map<string, FoundAttestation[]>();
  for await (const { sender, note: text, attempt } of notes(span)) {
    if (sender !== attestor.algorandAddress || text === undefined) continue;
    const note = noteOrFault(text);
    if ("p" in note && wanted.has(note.p)) found.getOrInsertComputed(note.p, () => []).push({ attempt, text });
  }
  return found;
}

function only(found: readonly FoundAttestation[] = []): FoundAttestation | undefined {
  if (found.length <= 1) return found[0];
  const txids = found.map(({ attempt }) => attempt.txid).join(", ");
  throw new ServiceError("not_allowed", `The ledger has more than one attestation of this payment: ${txids}.`);
}

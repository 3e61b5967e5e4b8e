import { createHash } from "node:crypto";
import type { KeyEntry } from "@attestd/proof";
import { encodeNote, keyEntryBytes, keyRevocationBytes } from "@attestd/proof/attestor";
import { toBase64 } from "@attestd/proof/encoding";
import { ServiceError } from "../errors.ts";
import { type Ledger, leaseOf } from "../ledger/ledger.ts";
import type { Signer } from "../signers/signer.ts";
import { entryOf, readHistory } from "./history.ts";
import type { KeyAnnouncement, KeyJournal, KeyRecord } from "./key-journal.ts";

export type KeyChangeOptions = {
  journal: KeyJournal;
  ledger: Pick<Ledger, "caip2" | "address" | "sign" | "submit" | "rounds">;
  /** Calls whose attestation is signed under the current key and not delivered yet. */
  unfinished(): Promise<number>;
  /** Called with the round that has to come first. */
  onWait(round: number): void;
  signal: AbortSignal;
};

/** A record that is in the history; `txid` is of its note, absent where the record was there before. */
export type KeyChange<R extends KeyRecord = KeyRecord> = { record: R; txid?: string };
type NewKey = Extract<KeyRecord, { kind: "key" }>;
type Revocation = Extract<KeyRecord, { kind: "revocation" }>;

/**
 * Rounds from now to the first of a new key, some half minute on MainNet. The note is recorded in them, so that no key
 * is valid for a round before its note.
 */
const NOTICE_ROUNDS = 10;

/**
 * Replaces the attestor's key: the new one is endorsed by the current one, announced in the journal, noted on the ledger,
 * and only then added to the history. Interrupted anywhere, the same call resumes: it finishes what was announced, so that
 * the ledger never has notes of two successors.
 *
 * No replica may run meanwhile: verifiers reject what it attests under the old key in a round of the new one.
 *
 * @param keys.current the key that the history ends with; any, to finish an interrupted rotation
 * @param keys.next MUST have been saved
 * @param keys.origin of the service from now on; as before unless given
 * @throws not_allowed; journal_in_use; calls_unfinished; attestor_unfunded; ProviderError when the ledger cannot be
 *   asked
 */
export async function rotateKey(
  { current, next, origin }: { current: Signer; next: Signer; origin: string | undefined },
  options: KeyChangeOptions,
): Promise<KeyChange<NewKey>> {
  const { journal, ledger } = options;
  const entries = await journal.keys();
  const last = entries.at(-1);
  if (!last) throw new ServiceError("not_allowed", "There is no key yet: no service has begun the journal.");
  if (last.kid === next.kid && entries.length > 1) return { record: { kind: "key", entry: last } };
  if (entries.some(({ kid }) => kid === next.kid))
    throw new ServiceError("not_allowed", `The seed is of ${next.kid}, which is in the history: a key never returns.`);
  requireAccount(last, ledger);

  const isOurs = (record: KeyRecord): record is NewKey => record.kind === "key" && record.entry.kid === next.kid;
  const requireCurrent = () => {
    if (last.kid === current.kid) return;
    const message = `The attestor's key is ${current.kid} (ATTESTOR_SIGNER), but ${last.kid} is the current one, which must endorse the next.`;
    throw new ServiceError("not_allowed", message);
  };
  // An announced key is endorsed already: the settings may lack the old seed by now.
  const announced = await journal.announced();
  if (!announced || !isOurs(announced.record)) requireCurrent();

  const make = async (fromRound: number): Promise<{ record: NewKey; keyRecord: Uint8Array }> => {
    requireCurrent();
    const entry = entryOf(next, { algorandAddress: ledger.address, origin: origin ?? last.origin, fromRound });
    const endorsement = toBase64(await current.sign(keyEntryBytes(entry), options.signal));
    return { record: { kind: "key", entry: { ...entry, endorsement } }, keyRecord: keyEntryBytes(entry) };
  };
  return carry({ isOurs, make, lease: leaseOf(`attestor-key/successor/${current.kid}`), alone: true }, options);
}

/**
 * Revokes a key: noted on the ledger, and then added to the history. As crash-safe as `rotateKey`.
 *
 * @param kid current or retired
 * @param revokedRound from which on nothing by the key counts; default: the next round
 * @throws as `rotateKey`
 */
export async function revokeKey(
  kid: string,
  revokedRound: number | undefined,
  options: KeyChangeOptions,
): Promise<KeyChange<Revocation>> {
  const { journal, ledger, signal } = options;
  const history = await readHistory(journal, ledger.caip2);
  const entry = history.keys.find((key) => key.kid === kid);
  if (!entry) throw new ServiceError("not_allowed", `The history has no key ${kid}.`);
  requireAccount(entry, ledger);
  const isSame = (round: number) => revokedRound === undefined || revokedRound === round;
  if (entry.revokedRound !== undefined) {
    if (!isSame(entry.revokedRound))
      throw new ServiceError("not_allowed", `The key is revoked from round ${entry.revokedRound} on, for good.`);
    return { record: { kind: "revocation", kid, revokedRound: entry.revokedRound } };
  }
  const latest = ledger.rounds.latest() || (await ledger.rounds.next(signal));
  if (revokedRound !== undefined && (revokedRound < entry.fromRound || revokedRound > latest + 1))
    throw new ServiceError(
      "not_allowed",
      `A key is revoked from a round since it began, ${entry.fromRound}, to the next, ${latest + 1}.`,
    );

  const isOurs = (record: KeyRecord): record is Revocation =>
    record.kind === "revocation" && record.kid === kid && isSame(record.revokedRound);
  const from = revokedRound ?? latest + 1;
  const make = async (): Promise<{ record: Revocation; keyRecord: Uint8Array }> => ({
    record: { kind: "revocation", kid, revokedRound: from },
    keyRecord: keyRevocationBytes({ ...entry, revokedRound: from }),
  });
  // A retired key signs nothing any more: replicas may go on.
  const alone = entry.untilRound === undefined;
  return carry({ isOurs, make, lease: leaseOf(`attestor-key/revocation/${kid}`), alone }, options);
}

/** @throws not_allowed when the entry is of another account than the ledger's */
function requireAccount({ algorandAddress }: KeyEntry, { address }: KeyChangeOptions["ledger"]): void {
  if (algorandAddress === address) return;
  const message = `The attestor's account is ${address} (ATTESTOR_SIGNER), not ${algorandAddress}.`;
  throw new ServiceError("not_allowed", message);
}

type Plan<R extends KeyRecord> = {
  isOurs(record: KeyRecord): record is R;
  /** 32 bytes: of notes under one lease, at most one is recorded. */
  lease: Uint8Array;
  /** Makes the record, and the bytes whose hash is the K of its note, which is recorded before `fromRound` or never. */
  make(fromRound: number): Promise<{ record: R; keyRecord: Uint8Array }>;
  /** Whether no replica may run meanwhile. */
  alone: boolean;
};

/**
 * Announces a record, or resumes the announcement of an earlier run, and finishes it. A note that can never be recorded
 * any more is replaced by another.
 */
async function carry<R extends KeyRecord>(plan: Plan<R>, options: KeyChangeOptions): Promise<KeyChange<R>> {
  const { journal, ledger, signal } = options;
  for (;;) {
    const { record, attempt } = (await journal.announced()) ?? (await announce(plan, options));
    if (plan.isOurs(record)) {
      const outcome = await note({ record, attempt }, options);
      await journal.conclude(attempt.txid, outcome);
      if (outcome === "noted") return { record, txid: attempt.txid };
    } else {
      const { state } = await ledger.rounds.standing(attempt.txid, attempt, signal);
      if (state !== "dead") throw new ServiceError("not_allowed", `${describe(record)} is under way: finish it first.`);
      await journal.conclude(attempt.txid, "dead");
    }
  }
}

function describe(record: KeyRecord): string {
  if (record.kind === "key") return `A rotation to the key ${record.entry.kid}`;
  return `A revocation of the key ${record.kid} from round ${record.revokedRound} on`;
}

/** @returns the announcement that stands, which may be another's */
async function announce<R extends KeyRecord>(plan: Plan<R>, options: KeyChangeOptions): Promise<KeyAnnouncement> {
  const { journal, ledger, signal } = options;
  if (plan.alone) await requireAlone(options);
  const latest = ledger.rounds.latest() || (await ledger.rounds.next(signal));
  const fromRound = latest + 1 + NOTICE_ROUNDS;
  const { record, keyRecord } = await plan.make(fromRound);
  const k = createHash("sha256").update(keyRecord).digest("hex");
  const special = { lastValid: fromRound - 1, keyRecord };
  const attempt = await ledger.sign(encodeNote({ g: ledger.caip2, k }), plan.lease, signal, special);
  const standing = await journal.announce({ record, attempt });
  if (plan.alone && standing.attempt.txid === attempt.txid) {
    // Check again: a replica that started before it could see the announcement is seen now. Nothing was submitted yet.
    await requireAlone(options).catch(async (error: unknown) => {
      await journal.conclude(attempt.txid, "dead");
      throw error;
    });
  }
  return standing;
}

async function requireAlone({ journal, unfinished }: KeyChangeOptions): Promise<void> {
  const others = await journal.others();
  if (others > 0)
    throw new ServiceError(
      "journal_in_use",
      `${count(others, "other replica has", "other replicas have")} this journal open.`,
    );
  const calls = await unfinished();
  if (calls > 0)
    throw new ServiceError(
      "calls_unfinished",
      `${count(calls, "paid call is", "paid calls are")} attested under the current key, and not delivered yet.`,
    );
}

function count(n: number, one: string, many: string): string {
  return `${n} ${n === 1 ? one : many}`;
}

/** Submits a note until it is recorded, or never can be. A key's first round has then been reached. */
async function note({ record, attempt }: KeyAnnouncement, options: KeyChangeOptions): Promise<"noted" | "dead"> {
  const { ledger, onWait, signal } = options;
  const { rounds } = ledger;
  for (;;) {
    const { state } = await rounds.standing(attempt.txid, attempt, signal);
    if (state === "dead") return "dead";
    if (state === "confirmed") break;
    const submission = await ledger.submit(attempt.raw, signal);
    if (submission.status === "unfunded") throw new ServiceError("attestor_unfunded", submission.reason);
    if (submission.status === "rejected") throw new Error(`the ledger does not take the note: ${submission.reason}`);
    await rounds.next(signal);
  }
  // Everything that it attests from now on is recorded in its own rounds.
  const before = record.kind === "key" ? record.entry.fromRound - 1 : 0;
  if (rounds.latest() < before) onWait(before);
  while (rounds.latest() < before) await rounds.next(signal);
  return "noted";
}

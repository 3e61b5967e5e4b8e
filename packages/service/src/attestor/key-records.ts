import { createHash } from "node:crypto";
import type { KeyEntry } from "@attestd/proof";
import { encodeNote, keyEntryBytes, keyRevocationBytes } from "@attestd/proof/attestor";
import { toBase64 } from "@attestd/proof/encoding";
import { ATTEMPT_ROUNDS, type Ledger, leaseOf } from "../ledger/ledger.ts";
import { hasCode, ServiceError } from "../lib/errors.ts";
import type { Signer } from "../signers/signer.ts";
import { entryOf, readHistory } from "./history.ts";
import type { KeyAnnouncement, KeyJournal, KeyRecord } from "./key-journal.ts";

export type KeyChangeOptions = {
  journal: KeyJournal;
  ledger: Pick<Ledger, "caip2" | "address" | "sign" | "submit" | "rounds">;
  /** Counts the calls whose attestation is signed with the current key and not delivered yet. */
  unfinished(): Promise<number>;
  /** Called with the round to wait for. */
  onWait(round: number): void;
  signal: AbortSignal;
};

/** A record in the history. `txid`: its note's transaction; absent if the record was there before. */
export type KeyChange<R extends KeyRecord = KeyRecord> = { record: R; txid?: string };
type NewKey = Extract<KeyRecord, { kind: "key" }>;
type Revocation = Extract<KeyRecord, { kind: "revocation" }>;

/**
 * Rounds from now to a new key's first round, about half a minute on MainNet. The note is recorded within them, so that
 * no key is valid for a round before its note.
 */
const NOTICE_ROUNDS = 10;

/** The same if the operator must start a signer for the record first: about five minutes on MainNet. */
const PLANNED_ROUNDS = 100;

/**
 * Replaces the attestor's key. The current key endorses the new one, which is announced in the journal, noted on the
 * ledger, and only then added to the history. If interrupted anywhere, the same call resumes: it finishes what was
 * announced, so that the ledger never has notes for two successors.
 *
 * No replica may run at the same time: verifiers reject an attestation with the old key in a round of the new one.
 * @param keys.current the last key of the history; any key to finish an interrupted rotation
 * @param keys.next MUST have been saved
 * @param keys.origin of the service from now on; default: unchanged
 * @param keys.fromRound the first round of the new key; default: some ten rounds from now
 * @throws not_allowed, also with what a signer must be started for; journal_in_use; calls_unfinished;
 *   attestor_unfunded; ProviderError when the ledger cannot be asked
 */
export async function rotateKey(
  keys: { current: Signer; next: Signer; origin: string | undefined; fromRound?: number | undefined },
  options: KeyChangeOptions,
): Promise<KeyChange<NewKey>> {
  const { current, next, origin, fromRound: chosen } = keys;
  const { journal, ledger } = options;
  const entries = await journal.keys();
  const last = entries.at(-1);
  if (!last) throw new ServiceError("not_allowed", "There is no key yet: no service has begun the journal.");
  if (last.kid === next.kid && entries.length > 1) return { record: { kind: "key", entry: last } };
  if (entries.some(({ kid }) => kid === next.kid))
    throw new ServiceError("not_allowed", `The seed's key ${next.kid} is already in the history: choose a new key.`);
  requireAccount(last, ledger);

  const isOurs = (record: KeyRecord): record is NewKey =>
    record.kind === "key" &&
    record.entry.kid === next.kid &&
    (chosen ?? record.entry.fromRound) === record.entry.fromRound;
  const requireCurrent = () => {
    if (last.kid === current.kid) return;
    const message = `The attestor's key is ${current.kid} (attestor.signer), but ${last.kid} is the current one, which must endorse the next.`;
    throw new ServiceError("not_allowed", message);
  };
  // An announced key is already endorsed, and the settings may lack the old seed by now.
  const announced = await journal.announced();
  if (!announced || !isOurs(announced.record)) requireCurrent();

  const entryFrom = (fromRound: number) =>
    entryOf(next, { algorandAddress: ledger.address, origin: origin ?? last.origin, fromRound });
  const make = async (latest: number): Promise<Made<NewKey>> => {
    requireCurrent();
    const entry = entryFrom(chosen ?? latest + 1 + NOTICE_ROUNDS);
    if (entry.fromRound <= latest + 1)
      throw new ServiceError("not_allowed", `Round ${entry.fromRound} is too soon: choose a later one, or none.`);
    const endorsement = toBase64(await current.sign(keyEntryBytes(entry), options.signal));
    const lastValid = entry.fromRound - 1;
    return { record: { kind: "key", entry: { ...entry, endorsement } }, keyRecord: keyEntryBytes(entry), lastValid };
  };
  const plan = (latest: number): Planned => {
    const entry = entryFrom(chosen ?? latest + 1 + PLANNED_ROUNDS);
    return { option: "--endorse", keyRecord: keyEntryBytes(entry), from: entry.fromRound };
  };
  return carry({ isOurs, make, plan, lease: leaseOf(`attestor-key/successor/${current.kid}`), alone: true }, options);
}

/**
 * Revokes a key: notes the revocation on the ledger, then adds it to the history. As crash-safe as `rotateKey`.
 * @param kid current or retired
 * @param revokedRound from which on the key does not count; default: the next round
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
      `A key can be revoked from any round between its first, ${entry.fromRound}, and the next one, ${latest + 1}.`,
    );

  const isOurs = (record: KeyRecord): record is Revocation =>
    record.kind === "revocation" && record.kid === kid && isSame(record.revokedRound);
  const from = revokedRound ?? latest + 1;
  const keyRecord = keyRevocationBytes({ ...entry, revokedRound: from });
  const make = async (newest: number): Promise<Made<Revocation>> => {
    return { record: { kind: "revocation", kid, revokedRound: from }, keyRecord, lastValid: newest + NOTICE_ROUNDS };
  };
  const plan = (): Planned => ({ option: "--revoke", keyRecord, from });
  // A retired key no longer signs anything: replicas may keep running.
  const alone = entry.untilRound === undefined;
  return carry({ isOurs, make, plan, lease: leaseOf(`attestor-key/revocation/${kid}`), alone }, options);
}

/** @throws not_allowed when the entry's account is not the ledger's */
function requireAccount({ algorandAddress }: KeyEntry, { address }: KeyChangeOptions["ledger"]): void {
  if (algorandAddress === address) return;
  const message = `The attestor's account is ${address} (attestor.signer), not ${algorandAddress}.`;
  throw new ServiceError("not_allowed", message);
}

/** A record, the bytes whose hash is its note's K, and the last round in which the note may be recorded. */
type Made<R extends KeyRecord> = { record: R; keyRecord: Uint8Array; lastValid: number };
/**
 * A record for which a signer must be started: the signer's option, and the round with which the command makes the same
 * record again.
 */
type Planned = { option: "--endorse" | "--revoke"; keyRecord: Uint8Array; from: number };

type Plan<R extends KeyRecord> = {
  isOurs(record: KeyRecord): record is R;
  /** 32 bytes. Of the notes under one lease, at most one is recorded. */
  lease: Uint8Array;
  /** @param latest round of the ledger */
  make(latest: number): Promise<Made<R>>;
  /** Called when the signer refuses the record. */
  plan(latest: number): Planned;
  /** Whether no replica may run at the same time. */
  alone: boolean;
};

/**
 * Announces a record, or resumes an earlier run's announcement, and finishes it. A note that can no longer be recorded
 * is replaced by another.
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
      const { state } = await ledger.rounds.status(attempt.txid, attempt, signal);
      if (state !== "dead")
        throw new ServiceError("not_allowed", `${describe(record)} has not finished: finish it first.`);
      await journal.conclude(attempt.txid, "dead");
    }
  }
}

function describe(record: KeyRecord): string {
  if (record.kind === "key") return `A rotation to the key ${record.entry.kid}`;
  return `A revocation of the key ${record.kid} from round ${record.revokedRound} on`;
}

/** @returns the journal's announcement, which may be another run's */
async function announce<R extends KeyRecord>(plan: Plan<R>, options: KeyChangeOptions): Promise<KeyAnnouncement> {
  const { journal, ledger, signal } = options;
  if (plan.alone) await requireAlone(options);
  const latest = ledger.rounds.latest() || (await ledger.rounds.next(signal));
  const signed = async () => {
    const { record, keyRecord, lastValid } = await plan.make(latest);
    const special = { lastValid: Math.min(lastValid, latest + ATTEMPT_ROUNDS), keyRecord };
    const note = encodeNote({ g: ledger.caip2, k: hashOf(keyRecord) });
    return { record, attempt: await ledger.sign(note, plan.lease, signal, special) };
  };
  const { record, attempt } = await signed().catch((error: unknown) => {
    throw isForRecord(error) ? notAllowedYet(plan.plan(latest), error) : error;
  });
  const announced = await journal.announce({ record, attempt });
  if (plan.alone && announced.attempt.txid === attempt.txid) {
    // Checked again: a replica that started before the announcement was visible is seen now. Nothing has been submitted
    // yet.
    await requireAlone(options).catch(async (error: unknown) => {
      await journal.conclude(attempt.txid, "dead");
      throw error;
    });
  }
  return announced;
}

function hashOf(keyRecord: Uint8Array): string {
  return createHash("sha256").update(keyRecord).digest("hex");
}

/** Whether a signer refused a record because it was not started for it. */
function isForRecord(error: unknown): boolean {
  const isRefusal = hasCode(error, "signer_failed") && error.details.failure === "refused";
  return isRefusal && error.message.includes("was not started with --");
}

/** Tells the operator how to make the signer sign a record. */
function notAllowedYet({ option, keyRecord, from }: Planned, cause: unknown): ServiceError {
  const again = `run the same command with --from ${from}${option === "--endorse" ? ", before that round" : ""}`;
  const message = `The signer was not started for this key record. Start it with ${option} ${hashOf(keyRecord)}, and ${again}.`;
  return new ServiceError("not_allowed", message, { cause });
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
      `${count(calls, "paid call is", "paid calls are")} attested with the current key, and not delivered yet.`,
    );
}

function count(n: number, one: string, many: string): string {
  return `${n} ${n === 1 ? one : many}`;
}

/**
 * Submits a note until it is recorded or can no longer be. When it returns, a new key's first round has been reached.
 */
async function note({ record, attempt }: KeyAnnouncement, options: KeyChangeOptions): Promise<"noted" | "dead"> {
  const { ledger, onWait, signal } = options;
  const { rounds } = ledger;
  for (;;) {
    const { state } = await rounds.status(attempt.txid, attempt, signal);
    if (state === "dead") return "dead";
    if (state === "confirmed") break;
    const submission = await ledger.submit(attempt.raw, signal);
    if (submission.status === "unfunded") throw new ServiceError("attestor_unfunded", submission.reason);
    if (submission.status === "rejected") throw new Error(`the ledger does not accept the note: ${submission.reason}`);
    await rounds.next(signal);
  }
  // Every attestation from now on is recorded in the new key's own rounds.
  const before = record.kind === "key" ? record.entry.fromRound - 1 : 0;
  if (rounds.latest() < before) onWait(before);
  while (rounds.latest() < before) await rounds.next(signal);
  return "noted";
}

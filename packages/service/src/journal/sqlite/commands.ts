import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { KeyEntry } from "@attestd/proof";
import type { KeyAnnouncement, KeyRevocation } from "../../attestor/key-journal.ts";
import type { Call, CallHead } from "../../calls/call.ts";
import { callStale, type Identity, nameTaken, type OpenCall, type StoredBundle } from "../../calls/journal.ts";
import { pruned } from "../../calls/pruning.ts";
import type { RefusedPayment } from "../../calls/refused.ts";
import type { RailName } from "../../payment/rails/rail.ts";
import { type Dictionary, dictionaryHash, dictionaryOf, noDictionary, orDamaged, pack, unpack } from "../packing.ts";
import { type UnreadRow, unreadRow } from "../reader.ts";
import { callOf, deliveredIn, type Packed, type PartedRow, requestOf } from "../record.ts";
import type { MovedRow, NewRow } from "./rows.ts";
import { SQL } from "./statements.ts";

type Delivery = NonNullable<MovedRow["delivery"]>;
type Payee = { rail: RailName; address: string };

export type SqliteCommands = ReturnType<typeof sqliteCommands>;

/** What can be done with the file; each command that writes MUST run inside a transaction. Arguments and results are cloneable. */
export function sqliteCommands(db: DatabaseSync) {
  const prepared: Partial<Record<keyof typeof SQL, StatementSync>> = {};
  // Prepared at first use, so that a reader needs only the tables that it reads.
  const sql = (name: keyof typeof SQL): StatementSync => (prepared[name] ??= db.prepare(SQL[name]));

  const contents = new Map<string, Uint8Array>();
  const unpacked = (packed: Uint8Array): string => {
    const hash = dictionaryHash(packed);
    const name = hash.toHex();
    const content = contents.getOrInsertComputed(name, () => {
      const row = sql("dictionary").get(hash);
      if (!row) throw noDictionary(name);
      return row.content as Uint8Array;
    });
    return unpack(packed, content);
  };
  let dictionary: Dictionary | undefined;
  /** Packs with the dictionary of the newest key, and looks each time whether it is kept: a commit that failed may have been the first. */
  const packed = (text: string): Uint8Array => {
    dictionary ??= dictionaryOf(newestKey());
    if (!sql("hasDictionary").get(dictionary.hash)) sql("addDictionary").run(dictionary.hash, dictionary.content);
    return pack(text, dictionary);
  };

  type Found = Omit<PartedRow, keyof Packed> & Packed;
  const whole = ({ request, delivered, ...row }: Found): PartedRow =>
    orDamaged(`the row of ${row.key}`, () => ({
      ...row,
      request: unpacked(request),
      delivered: delivered && unpacked(delivered),
    }));

  const find = (key: string): PartedRow | undefined => {
    const row = sql("find").get(key) as Found | undefined;
    return row && whole(row);
  };
  type Value = string | number | Uint8Array;
  const all = (name: keyof typeof SQL, ...values: Value[]) => sql(name).all(...values);
  const rows = (name: "page" | "toPrune", ...values: (string | number)[]): (Call | UnreadRow)[] =>
    (all(name, ...values) as Found[]).map((row) => {
      try {
        const unpacked = whole(row);
        return orDamaged(`the row of ${row.key}`, () => callOf(unpacked));
      } catch (error) {
        return unreadRow(row, error);
      }
    });

  const newestKey = (): KeyEntry | undefined => {
    const row = sql("newestKey").get();
    return row && JSON.parse(row.entry as string);
  };

  const identity = (): Identity | undefined => {
    const row = sql("identity").get();
    return row && JSON.parse(row.value as string);
  };

  const appendKey = (entry: KeyEntry): void => {
    dictionary = undefined;
    sql("appendKey").run(entry.kid, JSON.stringify(entry));
  };

  const appendRevocation = ({ kid, revokedRound }: KeyRevocation): void =>
    void sql("appendRevocation").run(kid, revokedRound);

  const announced = (): KeyAnnouncement | undefined => {
    const row = sql("announced").get();
    if (!row) return undefined;
    const { record, ...attempt } = row;
    return { record: JSON.parse(record as string), attempt: attempt as KeyAnnouncement["attempt"] };
  };

  function giveName(name: string, key: string): void {
    const holder = find(name);
    if (!holder) sql("insertName").run(name, key);
    else if (holder.key !== key) throw nameTaken(key);
  }

  /** Writes what a transition changes in the row of its call. @throws call_stale */
  function move({ row, delivery }: MovedRow): void {
    const moved = delivery ? sql("deliverCall").run({ ...row, ...columnsOf(delivery) }) : sql("updateCall").run(row);
    if (moved.changes !== 1) throw callStale(row.key);
  }

  function columnsOf({ id, body, bytes, parts, delivered }: Delivery) {
    return { id, bytes, parts: parts.length, bodyBytes: body?.length ?? null, delivered: packed(delivered) };
  }

  function insertEvidence({ row, items }: Exclude<NewRow["evidence"], undefined>): void {
    sql("insertEvidence").run(row);
    for (const [place, content] of items.entries())
      sql("insertEvidenceItem").run({ hash: row.hash, place, bytes: content.length, content });
  }

  function keepParts({ id: bundleId, parts }: Delivery): void {
    for (const [place, { id = null, text }] of parts.entries())
      sql("keepPart").run({ bundleId, place, id, bytes: text.length, content: packed(text) });
  }

  return {
    identity,
    /** @returns the recorded identity: the first that was claimed */
    claim(own: Identity): Identity {
      sql("claim").run(JSON.stringify(own));
      return identity() as Identity;
    },
    /** @returns the recorded one, in hex: the first */
    secret(own: string): string {
      sql("beginSecret").run(own);
      return sql("secret").get()?.value as string;
    },
    copiedUntil: () => sql("copiedUntil").get()?.until as number | undefined,
    markCopied(): void {
      sql("forgetAllRefused").run();
      sql("markCopied").run();
    },
    rememberRefused({ key, payer, subjectHash }: RefusedPayment): void {
      if (sql("rememberRefused").all(key, payer, subjectHash).length > 0) sql("forgetRefused").run(payer);
    },
    refused: (key: string) => all("refused", key).map((row) => ({ ...row }) as RefusedPayment)[0],
    find,
    /** @returns the row, too, where its payment has this hash */
    look(key: string, sha256: string): { head: CallHead; row?: PartedRow | undefined } | undefined {
      const head = sql("head").get(key) as CallHead | undefined;
      return head && { head: { ...head }, row: head.payloadSha256 === sha256 ? find(key) : undefined };
    },
    /** @returns the earlier holder of one of the names; undefined when the call was inserted */
    insert({ row, names, evidence }: NewRow): PartedRow | undefined {
      for (const name of names) {
        const holder = find(name);
        if (holder) return holder;
      }
      if (evidence) insertEvidence(evidence);
      sql("insertCall").run({ ...row, request: packed(row.request) });
      for (const name of names) sql("insertName").run(name, row.key);
      return undefined;
    },
    update(moved: MovedRow): void {
      const { row, delivery, begun, attempt, dropsEvidence, name } = moved;
      const evidence = dropsEvidence ? (sql("evidenceHash").get(row.key)?.hash as string | null) : null;
      move(moved);
      if (name !== undefined) giveName(name, row.key);
      if (evidence !== null) {
        if (!delivery) sql("leaveEvidence").run(row.key);
        sql("dropEvidence").run({ hash: evidence });
      }
      if (delivery) {
        keepParts(delivery);
        sql("dropAttempts").run(row.key);
      }
      if (attempt) sql("writeAttempt").run(attempt);
      for (const one of begun) sql("beginEvidence").run(one);
    },
    open: (): OpenCall[] =>
      all("open").map(
        ({ bundleId, ...call }) => ({ ...call, ...(bundleId !== null && { bundle: { id: bundleId } }) }) as OpenCall,
      ),
    openBut: (held: readonly string[], limit: number) => all("openBut", JSON.stringify(held), limit) as CallHead[],
    /** @param after the key that the page before ended with; empty for the first */
    page: (after: string, limit: number) => rows("page", after, limit),
    exposure: (rail: RailName, payer: string) => sql("exposure").get(rail, payer)?.amount as number,
    /** @returns JSON */
    evidenceOf: (key: string) => sql("evidenceOf").get(key)?.content as string | undefined,
    /** @returns JSON of each */
    evidenceItemsOf: (key: string, from: number, bytes: number) =>
      all("evidenceItemsOf", key, from, bytes).map(({ content }) => content as string),
    stored: (id: string) => sql("stored").get(id) as StoredBundle | undefined,
    bodyOf(bundleId: string): string | undefined {
      const delivered = sql("bodyOf").get(bundleId)?.delivered as Uint8Array | undefined;
      return delivered && orDamaged(`the bundle ${bundleId}`, () => deliveredIn(unpacked(delivered)).body);
    },
    partsOf: (bundleId: string, from: number, bytes: number) =>
      all("partsOf", bundleId, from, bytes).map(({ content }) =>
        orDamaged(`a part of the bundle ${bundleId}`, () => unpacked(content as Uint8Array)),
      ),
    /** The rows of any statement. */
    all,
    prunable: (before: number) => ({ ...sql("prunable").get(before) }) as { calls: number; bytes: number },
    prune(before: number, limit: number): number {
      const found = rows("toPrune", before, limit);
      // One that is damaged stays, and is no reason to keep the others.
      const calls = found.flatMap((row) => ("fault" in row ? [] : [row]));
      for (const call of calls) {
        sql("prune").run(packed(requestOf(pruned(call))), call.key);
        sql("forgetBytes").run(call.key);
      }
      return calls.length === 0 ? 0 : found.length;
    },
    rememberPayees(payees: readonly Payee[]): void {
      for (const { rail, address } of payees) sql("rememberPayee").run(rail, address);
    },
    payees: () => all("payees") as Payee[],
    keys: (): KeyEntry[] => all("keys").map((row) => JSON.parse(row.entry as string)),
    appendKey,
    revocations: () => all("revocations").map((row) => ({ ...row }) as KeyRevocation),
    appendRevocation,
    announced,
    announce({ record, attempt }: KeyAnnouncement): KeyAnnouncement {
      const { txid, raw, firstValid, lastValid } = attempt;
      sql("announce").run(JSON.stringify(record), txid, raw, firstValid, lastValid);
      return announced() as KeyAnnouncement;
    },
    conclude(txid: string, outcome: "noted" | "dead"): void {
      const row = sql("endAnnouncement").get(txid);
      if (!row || outcome === "dead") return;
      const record: KeyAnnouncement["record"] = JSON.parse(row.record as string);
      if (record.kind === "key") appendKey(record.entry);
      else appendRevocation(record);
    },
  };
}

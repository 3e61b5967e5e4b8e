import type { KeyEntry } from "@attestd/proof";
import type { QueryConfig, QueryResultRow } from "pg";
import type { KeyAnnouncement, KeyRevocation } from "../../attestor/key-journal.ts";
import type { Call } from "../../calls/call.ts";
import type { Identity, StoredBundle } from "../../calls/journal.ts";
import type { RefusedPayment } from "../../calls/refused.ts";
import type { RailName } from "../../payment/rails/rail.ts";
import type { Evidence } from "../../subjects/product.ts";
import { type Dictionary, damaged, dictionaryHash, noDictionary, orDamaged, unpack } from "../packing.ts";
import { inPages, type JournalReader, type UnreadRow, unreadRow } from "../reader.ts";
import { callOf, deliveredIn, evidenceItemsIn, type Packed, type PartedRow } from "../record.ts";
import { newClient, TYPES } from "./connections.ts";
import { stateOf } from "./schema.ts";
import { SQL } from "./statements.ts";

type StatementName = keyof typeof SQL;

/** Runs a statement. @returns its rows */
export type Ask = <R extends QueryResultRow>(name: StatementName, ...values: unknown[]) => Promise<R[]>;

type AnnouncementRow = Pick<KeyAnnouncement, "record"> & Omit<KeyAnnouncement["attempt"], "raw"> & { raw: Buffer };

export function statement(name: StatementName, values: unknown[]): QueryConfig {
  return { name, text: SQL[name], values };
}

/** Statements that read, with the mapping of their rows, for the journal and its reader. */
export function postgresReads(ask: Ask) {
  const contents = new Map<string, Uint8Array>();
  /** @param what for the error of one that is damaged */
  async function unpacked(packed: Uint8Array, what: string): Promise<string> {
    const hash = dictionaryHash(packed);
    const name = hash.toHex();
    const content = contents.get(name) ?? (await ask<Dictionary>("dictionary", hash))[0]?.content;
    if (!content) throw damaged(what, noDictionary(name));
    contents.set(name, content);
    return orDamaged(what, () => unpack(packed, content));
  }

  async function whole({ request, delivered, ...row }: Omit<PartedRow, keyof Packed> & Packed): Promise<Call> {
    const what = `the row of ${row.key}`;
    const texts = {
      request: await unpacked(request, what),
      delivered: delivered && (await unpacked(delivered, what)),
    };
    return orDamaged(what, () => callOf({ ...row, ...texts }));
  }

  return {
    async find(key: string): Promise<Call | undefined> {
      const [row] = await ask<Parameters<typeof whole>[0]>("find", key);
      return row && whole(row);
    },
    async calls(name: "page" | "toPrune", ...values: unknown[]): Promise<(Call | UnreadRow)[]> {
      const found: (Call | UnreadRow)[] = [];
      // One after the other: each may ask for a dictionary.
      for (const row of await ask<Parameters<typeof whole>[0]>(name, ...values))
        found.push(await whole(row).catch((error: unknown) => unreadRow(row, error)));
      return found;
    },
    /** Methods of the journal and of its reader. */
    same: {
      async evidenceOf(key: string) {
        return (await ask<{ content: Evidence }>("evidenceOf", key))[0]?.content;
      },
      async evidenceItemsOf(key: string, from: number, bytes: number) {
        const items = await ask<{ content: string }>("evidenceItemsOf", key, from, bytes);
        return evidenceItemsIn(items.map(({ content }) => content));
      },
      stored: async (id: string) => (await ask<StoredBundle>("stored", id))[0],
      async bodyOf(bundleId: string) {
        const [row] = await ask<{ delivered: Uint8Array }>("bodyOf", bundleId);
        return row && deliveredIn(await unpacked(row.delivered, `the bundle ${bundleId}`)).body;
      },
      async partsOf(bundleId: string, from: number, bytes: number) {
        const parts = await ask<{ content: Uint8Array }>("partsOf", bundleId, from, bytes);
        const texts: string[] = [];
        for (const { content } of parts) texts.push(await unpacked(content, `a part of the bundle ${bundleId}`));
        return texts;
      },
      async prunable(before: number) {
        const [row] = await ask<{ calls: number; bytes: number }>("prunable", before);
        return row ?? { calls: 0, bytes: 0 };
      },
      refused: async (key: string) => (await ask<RefusedPayment>("refused", key))[0],
      identity: async () => (await ask<{ value: Identity }>("identity"))[0]?.value,
      copiedUntil: async () => (await ask<{ until: number }>("copiedUntil"))[0]?.until,
      payees: () => ask<{ rail: RailName; address: string }>("payees"),
      keys: async () => (await ask<{ entry: KeyEntry }>("keys")).map(({ entry }) => entry),
      revocations: () => ask<KeyRevocation>("revocations"),
      async announced(): Promise<KeyAnnouncement | undefined> {
        const [row] = await ask<AnnouncementRow>("announced");
        if (!row) return undefined;
        const { record, raw, ...attempt } = row;
        return { record, attempt: { ...attempt, raw: new Uint8Array(raw) } };
      },
    },
  };
}

/** @param url `postgres://…`. @throws Error when the database cannot be reached; it never names user or password */
export async function openPostgresReader(url: string): Promise<JournalReader> {
  const client = newClient({ connectionString: url, types: TYPES, fallback_application_name: "attestd audit" });
  const ask: Ask = async (name, ...values) => (await client.query(statement(name, values)).catch(unreadable)).rows;
  await client.connect().catch(unreadable);
  await client.query("SET default_transaction_read_only = on").catch(unreadable);
  const { calls, same } = postgresReads(ask);
  return {
    calls: () => inPages((after, limit) => calls("page", after, limit)),
    ...same,
    schema: () => stateOf(client).catch(unreadable),
    [Symbol.asyncDispose]: () => client.end(),
  };
}

/** @throws Error without the driver's message, which may name the user */
function unreadable(error: unknown): never {
  const { code } = error as { code?: string };
  throw new Error(`the journal in PostgreSQL cannot be read (${code ?? "no answer"})`);
}

import { createReadStream } from "node:fs";
import { open } from "node:fs/promises";
import type { ClientBase } from "pg";
import type { CallState } from "../../calls/call.ts";
import type { Identity } from "../../calls/journal.ts";
import { checkDictionary, noDictionary } from "../packing.ts";
import { REFUSED, type SavedJournal, schemaState, UNRELEASED } from "../reader.ts";
import { connected } from "./connections.ts";
import { applyVersions, VERSIONS, versionOf } from "./schema.ts";
import { COPY_MARK } from "./statements.ts";

/**
 * Every table but the replicas and the collector of evidence, whose leases end with them, and the refused payments, which a
 * copy forgets (calls/refused.ts). In this order no row refers to a later one; rows are sorted, so that the same journal
 * always gives the same lines.
 */
const TABLES = {
  meta: "name",
  evidence: "hash",
  evidence_items: "hash, place",
  dictionaries: "hash",
  calls: "key",
  names: "name",
  attempts: "txid",
  bundle_parts: "bundle_id, place",
  payees: "rail, address",
  keys: "place",
  key_revocations: "place",
  key_announcement: "place",
  state_proofs: "sha256",
  ledger_blocks: "round",
  ledger_evidence: "id, kind",
} as const;
type Table = keyof typeof TABLES;

export const TABLE_NAMES = Object.keys(TABLES) as readonly Table[];

/** What the first line says of the file; dumps from before the first release have none. */
const FORMAT = "attestd.journal/1";
/** A line of the file: the schema first, then each row as PostgreSQL's `row_to_json` spells it, in `text`. */
type Line = { schema: number; format?: string } | { table: Table; row: Record<string, unknown>; text: string };

/** Rows that are read at once, and of tables whose rows are large: what is in memory is some MiB, whatever strangers have bought. */
const ROWS = 50;
const FEW_ROWS: Partial<Record<Table, number>> = { evidence: 1, state_proofs: 1, evidence_items: 10, bundle_parts: 10 };
/** Characters: some times the largest row, whose evidence is of a bundle of two MiB at most. */
const MAX_LINE = 32 * 1024 * 1024;
const NOT_EMPTY = "the database has a journal already: name an empty one, and keep it for the audit";

/** What is saved of a table: its rows; of `meta` without the server, and with the mark of a copy (calls/copied.ts). */
const SOURCES: Partial<Record<Table, string>> = {
  meta: `(SELECT name, value FROM meta WHERE name NOT IN ('copied_until', 'server')
    UNION ALL ${COPY_MARK})`,
};

/** One transaction reads all of it, `REPEATABLE READ`: PostgreSQL holds up no writer for it. */
export async function dumpPostgres(url: string, file: string): Promise<void> {
  await connected(url, async (client) => {
    await client.query("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
    await using handle = await open(file, "wx", 0o600);
    const { rows } = await client.query<{ schema: number }>("SELECT max(version) AS schema FROM schema_versions");
    await handle.write(`${JSON.stringify({ format: FORMAT, schema: rows[0]?.schema })}\n`);
    for (const table of await tablesOf(client)) {
      const select = `SELECT row_to_json(t)::text AS row FROM ${SOURCES[table] ?? table} t ORDER BY ${TABLES[table]}`;
      await client.query(`DECLARE reading NO SCROLL CURSOR FOR ${select}`);
      const limit = rowsOf(table);
      for (let read = limit; read === limit; ) {
        const { rows: page } = await client.query<{ row: string }>(`FETCH ${limit} FROM reading`);
        for (const { row: text } of page) await handle.write(`{"table":"${table}","row":${text}}\n`);
        read = page.length;
      }
      await client.query("CLOSE reading");
    }
    await client.query("COMMIT");
    await handle.sync();
  });
}

/** Columns that are packed, as PostgreSQL writes their bytes: `\\x` and hex. */
const PACKED: Partial<Record<Table, readonly string[]>> = {
  calls: ["request", "delivered"],
  bundle_parts: ["content"],
};
const HASH_DIGITS = 64;

/** @throws Error when a line is none of a dump, the dump ends early, or it lacks a dictionary that its rows name */
export async function checkDump(file: string): Promise<SavedJournal> {
  const calls: Partial<Record<CallState, number>> = {};
  let schema: number | undefined;
  let identity: Identity | undefined;
  let keys = 0;
  const dictionaries = new Set<string>();
  for await (const line of linesOf(file)) {
    if ("schema" in line) {
      schema = line.format === FORMAT ? line.schema : UNRELEASED;
      continue;
    }
    if (line.table === "dictionaries") {
      const [hash, content] = [hexOf(line.row.hash), hexOf(line.row.content)];
      checkDictionary({ hash: Uint8Array.fromHex(hash), content: Uint8Array.fromHex(content) });
      dictionaries.add(hash);
    }
    for (const column of PACKED[line.table] ?? []) {
      const named = line.row[column] === null ? undefined : hexOf(line.row[column]).slice(0, HASH_DIGITS);
      if (named !== undefined && !dictionaries.has(named)) throw noDictionary(named);
    }
    if (line.table === "meta" && line.row.name === "identity") identity = line.row.value as Identity;
    else if (line.table === "keys") keys += 1;
    else if (line.table === "calls") {
      const state = line.row.state as CallState;
      calls[state] = (calls[state] ?? 0) + 1;
    }
  }
  if (schema === undefined || !identity) throw new Error(`${file} is no whole journal`);
  const refusal = REFUSED[schemaState(schema, VERSIONS.length)];
  if (refusal !== undefined) throw new Error(`${file}: ${refusal}`);
  return { schema, identity, calls, keys };
}

/**
 * In one transaction: a crash leaves the database as it was. A journal of an earlier release gets the schema of that release,
 * which the next start upgrades.
 */
export async function loadDump(file: string, url: string): Promise<void> {
  const { schema } = await checkDump(file);
  await connected(url, async (client) => {
    await client.query("BEGIN");
    const there = await tablesOf(client);
    if (there.length > 0) await client.query(`LOCK TABLE ${there.join(", ")} IN ACCESS EXCLUSIVE MODE`);
    for (const table of there) {
      const { rowCount } = await client.query(`SELECT 1 FROM ${table} LIMIT 1`);
      if (rowCount) throw new Error(NOT_EMPTY);
    }
    if (there.length > 0 && (await versionOf(client)) !== schema) throw new Error(NOT_EMPTY);
    await applyVersions(client, VERSIONS.slice(0, schema));
    let page: string[] = [];
    let filled: Table | undefined;
    const write = async () => {
      if (!filled || page.length === 0) return;
      const rows = `json_populate_recordset(NULL::${filled}, $1)`;
      await client.query(`INSERT INTO ${filled} OVERRIDING SYSTEM VALUE SELECT * FROM ${rows}`, [`[${page}]`]);
      page = [];
    };
    for await (const line of linesOf(file)) {
      if ("schema" in line) continue;
      if (line.table !== filled || page.length === rowsOf(line.table)) await write();
      filled = line.table;
      page.push(line.text);
    }
    await write();
    for (const table of ["keys", "key_revocations"])
      await client.query(
        `SELECT setval(pg_get_serial_sequence($1, 'place'), coalesce(max(place), 1), max(place) IS NOT NULL) FROM ${table}`,
        [table],
      );
    await client.query("COMMIT");
  });
}

/** @param value a column of bytes. @returns its hex; empty where it is none */
function hexOf(value: unknown): string {
  return typeof value === "string" && value.startsWith("\\x") ? value.slice(2) : "";
}

function rowsOf(table: Table): number {
  return FEW_ROWS[table] ?? ROWS;
}

/** The tables that the database has, in their order. */
async function tablesOf(client: ClientBase): Promise<Table[]> {
  const { rows } = await client.query<{ name: Table }>(
    "SELECT name FROM unnest($1::text[]) WITH ORDINALITY AS own (name, place) WHERE to_regclass(name) IS NOT NULL ORDER BY place",
    [TABLE_NAMES],
  );
  return rows.map(({ name }) => name);
}

async function* linesOf(file: string): AsyncGenerator<Line> {
  for await (const text of textLinesOf(file)) {
    const line = JSON.parse(text) as Extract<Line, { schema: number }> | { table: Table; row: Record<string, unknown> };
    if ("schema" in line) yield line;
    else if (!Object.hasOwn(TABLES, line.table)) throw new Error(`${file} has rows of an unknown table`);
    else {
      const start = `{"table":"${line.table}","row":`;
      if (!text.startsWith(start)) throw new Error(`${file} has a line that no backup has`);
      yield { ...line, text: text.slice(start.length, -1) };
    }
  }
}

/** @throws Error when a line is longer than any that is saved: it would fill the memory */
async function* textLinesOf(file: string): AsyncGenerator<string> {
  let rest = "";
  for await (const chunk of createReadStream(file, "utf8")) {
    const [first, ...more] = (chunk as string).split("\n") as [string, ...string[]];
    rest += first;
    for (const next of more) {
      yield rest;
      rest = next;
    }
    if (rest.length > MAX_LINE) throw new Error(`${file} has a line of more than ${MAX_LINE} characters`);
  }
  if (rest !== "") throw new Error(`${file} ends within a line`);
}

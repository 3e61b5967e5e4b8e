import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { inspect } from "node:util";
import type { KeyEntry } from "@attestd/proof";
import { Client } from "pg";
import pino from "pino";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { temporaryFolder } from "../../../../../test/helpers/temporary-folder.ts";
import { serviceError } from "../../../test/errors.ts";
import { aCall, after, aLargeEvidence, deliver, GOOD_COURSE, goodCourseFrom } from "../../../test/fakes/calls.ts";
import { PASSWORD, sql, startPostgres, type TestPostgres } from "../../../test/fakes/postgres.ts";
import { journalContract, replicaContract } from "../../../test/journal-contract/calls.ts";
import { copiedContract, lossContract } from "../../../test/journal-contract/copied.ts";
import { collectorContract, evidenceContract } from "../../../test/journal-contract/evidence.ts";
import { keyContract } from "../../../test/journal-contract/keys.ts";
import { pruningContract } from "../../../test/journal-contract/pruning.ts";
import { refusedContract } from "../../../test/journal-contract/refused.ts";
import type { KeyJournal } from "../../attestor/key-journal.ts";
import type { Call } from "../../calls/call.ts";
import { type Journal, LEASE_MS } from "../../calls/journal.ts";
import { createRunner } from "../../calls/runner.ts";
import { systemClock } from "../../lib/clock.ts";
import { progressOf } from "../record.ts";
import { checkDump, dumpPostgres, loadDump, TABLE_NAMES } from "./backup.ts";
import { openPostgresJournal } from "./journal.ts";
import { openPostgresReader } from "./reader.ts";
import { VERSIONS } from "./schema.ts";
import { SQL } from "./statements.ts";

let postgres: TestPostgres;
let shared: string;
beforeAll(async () => {
  postgres = await startPostgres();
  shared = await postgres.database();
});
afterAll(() => postgres.close());

/**
 * Emptied instead of made anew for every test of the contract: that takes a tenth of the time. The tables stay, because making
 * them anew is half of what is left.
 */
async function place() {
  return {
    open: () => openPostgresJournal(shared),
    async evidenceKept() {
      const [row] = await sql(
        shared,
        "SELECT ((SELECT count(*) FROM evidence) + (SELECT count(*) FROM evidence_items))::integer AS kept",
      );
      return row?.kept as number;
    },
    async fillRefused(count: number) {
      const numbers = "generate_series(1, $1::integer) AS n";
      const added = `SELECT 'other ' || n, n, '' FROM ${numbers}`;
      await sql(shared, `INSERT INTO refused_payments (key, payer, subject_hash) ${added}`, [count]);
    },
    remove: async () => {
      const [row] = await sql(
        shared,
        "SELECT string_agg('DELETE FROM ' || tablename, ';') AS all FROM pg_tables WHERE schemaname = 'public' AND tablename <> 'schema_versions'",
      );
      await sql(shared, `SET session_replication_role = replica; ${row?.all}`);
    },
    outlive: () => outlive(shared),
    async lose(key: string, left: "row" | "nothing" | "everything") {
      if (left === "row")
        await sql(
          shared,
          "UPDATE calls SET version = 1, state = 'settling', open = TRUE, progress = $2 WHERE key = $1",
          [key, progressOf(aCall())],
        );
      else await sql(shared, `DELETE FROM names WHERE key = '${key}'; DELETE FROM calls WHERE key = '${key}'`);
      if (left === "everything") await sql(shared, "DELETE FROM dictionaries");
      await sql(
        shared,
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()",
      );
    },
  };
}

async function outlive(url: string): Promise<void> {
  await sql(url, "UPDATE replicas SET until = until - $1 * interval '1 ms'", [LEASE_MS]);
}

journalContract("PostgreSQL", place);
copiedContract("PostgreSQL", place);
refusedContract("PostgreSQL", place);
lossContract("PostgreSQL", place);
replicaContract("PostgreSQL", place);
keyContract("PostgreSQL", place);
evidenceContract("PostgreSQL", place);
pruningContract("PostgreSQL", place);
collectorContract("PostgreSQL", place);

test("a database that another server has taken over may lack calls, though it has none; a new one lacks none", async () => {
  const url = await postgres.database();
  const journal = await openPostgresJournal(url);
  expect([await journal.copiedUntil(), journal.mayLackSince()]).toEqual([undefined, undefined]);
  await journal.close();
  await sql(url, "UPDATE meta SET value = '\"another cluster/00000001\"' WHERE name = 'server'");
  const next = await openPostgresJournal(url);
  expect([await next.copiedUntil(), next.mayLackSince()]).toEqual([0, expect.any(Number)]);
  await next.close();
});

test("a journal in PostgreSQL is saved as it is, and restored row by row into an empty database alone", async () => {
  await using folder = await temporaryFolder();
  const [from, to] = [await postgres.database(), await postgres.database()];
  const journal = await openPostgresJournal(from);
  await journal.claim({ genesisHash: "g", algorandAddress: "A" });
  await deliver(journal, aCall({ key: "k1", aliases: ["a1"], payer: 'P "quoted" \\ \u{1f4b0} \n' }));
  await journal.insert(aCall({ key: "k2" }));
  await journal.rememberPayees([{ rail: "base", address: "0x1" }]);

  const [saved, again] = [join(folder.path, "one.ndjson"), join(folder.path, "two.ndjson")];
  await dumpPostgres(from, saved);
  expect(await checkDump(saved)).toMatchObject({ identity: { genesisHash: "g" }, calls: { done: 1, settling: 1 } });
  await loadDump(saved, to);
  await expect(loadDump(saved, to)).rejects.toThrow("has a journal already");
  await dumpPostgres(to, again);
  expect(await readFile(again, "utf8")).toBe(await readFile(saved, "utf8"));

  await using reader = await openPostgresReader(to);
  const calls = await Array.fromAsync(reader.calls());
  await using original = await openPostgresReader(from);
  expect(calls).toEqual(await Array.fromAsync(original.calls()));
  // Every table of the schema is saved, but those that say how the database itself stands, and what a copy forgets.
  const tables = await sql(from, "SELECT table_name FROM information_schema.tables WHERE table_schema = 'public'");
  const own = tables
    .map(({ table_name: name }) => String(name))
    .filter((name) => !/^(replicas|evidence_collector|schema_versions|refused_payments)$/.test(name));
  expect(own.toSorted()).toEqual([...TABLE_NAMES].toSorted());
  const key = { kid: "kid", keySha256: "x" } as KeyEntry;
  const restored = await openPostgresJournal(to);
  await restored.appendKey(key);
  expect(await restored.keys()).toEqual([key]);
  await Promise.all([journal.close(), restored.close()]);

  const lines = (await readFile(saved, "utf8")).split("\n");
  await writeFile(again, lines.slice(1).join("\n"));
  await expect(checkDump(again)).rejects.toThrow("is no whole journal");
  await writeFile(again, lines.join("\n").replace('{"table":"names"', '{"table":"pg_authid"'));
  await expect(checkDump(again)).rejects.toThrow("unknown table");
});

test("a dump that other tools put back is known for a copy, in another database of the server and in the same one", async () => {
  await using folder = await temporaryFolder();
  const url = await postgres.database();
  const journal = await openPostgresJournal(url);
  await journal.claim({ genesisHash: "g", algorandAddress: "A" });
  await journal.insert(aCall({ createdAt: 7 }));
  await journal.close();
  const [server] = await sql(url, "SELECT value FROM meta WHERE name = 'server'");
  const copy = new URL(url);
  copy.pathname += "_copy";
  await sql(
    copy.href.replace(/[^/]*$/, "postgres"),
    `CREATE DATABASE ${copy.pathname.slice(1)} TEMPLATE ${url.replace(/.*\//, "")}`,
  );
  const dump = join(folder.path, "dump.ndjson");
  await dumpPostgres(url, dump);
  await sql(url, "DROP SCHEMA public CASCADE; CREATE SCHEMA public");
  await loadDump(dump, url);
  // What pg_dump saves, too, and what it does not know of.
  await sql(url, "DELETE FROM meta WHERE name = 'copied_until'");
  await sql(url, "INSERT INTO meta (name, value) VALUES ('server', $1)", [JSON.stringify(server?.value)]);
  for (const place of [url, copy.href]) {
    const opened = await openPostgresJournal(place);
    expect([await opened.copiedUntil(), opened.mayLackSince()]).toEqual([7, expect.any(Number)]);
    await opened.close();
    const again = await openPostgresJournal(place);
    expect((await sql(place, "SELECT value FROM meta WHERE name = 'server'"))[0]).not.toEqual(server);
    await again.close();
  }
});

test("a backup has few rows in memory at once where a stranger decides how large they are", async () => {
  await using folder = await temporaryFolder();
  const url = await postgres.database();
  const journal = await openPostgresJournal(url);
  await journal.claim({ genesisHash: "g", algorandAddress: "A" });
  const message = { blockHeadersCommitment: "b", votersCommitment: "v", lnProvenWeight: 8 };
  for (let n = 0; n < 12; n++) {
    await journal.insert(aCall({ key: `key ${n}`, evidence: aLargeEvidence(`LARGE ${n}`) }));
    const rounds = { firstAttestedRound: n, lastAttestedRound: n };
    const proof = { sha256: `${n}`, message: { ...message, ...rounds }, checkpoint: {} as never };
    await journal.keepStateProof(proof, new Uint8Array(100_000));
  }
  await journal.close();
  const query = Client.prototype.query as (...args: unknown[]) => Promise<{ rows: { row?: string }[] }>;
  const sizes: number[] = [];
  const spied = vi.spyOn(Client.prototype, "query").mockImplementation(async function (
    this: Client,
    ...args: unknown[]
  ) {
    const result = await query.apply(this, args);
    sizes.push(result.rows.reduce((sum, { row = "" }) => sum + row.length, 0));
    return result;
  } as never);
  try {
    await dumpPostgres(url, join(folder.path, "journal.ndjson"));
  } finally {
    spied.mockRestore();
  }
  expect(Math.max(...sizes)).toBeGreaterThan(100_000);
  expect(Math.max(...sizes)).toBeLessThan(250_000);
});

describe("PostgreSQL journal", () => {
  let journals: Journal[] = [];

  async function opened(url: string): Promise<Journal & KeyJournal> {
    const journal = await openPostgresJournal(url);
    journals.push(journal);
    return journal;
  }

  afterEach(closed);
  async function closed(): Promise<void> {
    const open = journals;
    journals = [];
    await Promise.all(open.map((journal) => journal.close()));
  }

  const calls = (count: number) => Array.from({ length: count }, (_, i) => aCall({ key: `key ${i}`, createdAt: i }));

  test("replicas that start at once make the schema once", async () => {
    const url = await postgres.database();
    await Promise.all([1, 2, 3, 4, 5].map(() => opened(url)));
    await closed();
    await (await opened(url)).insert(aCall());
    expect(await sql(url, "SELECT version FROM schema_versions ORDER BY version")).toEqual(
      VERSIONS.map((_, i) => ({ version: i + 1 })),
    );
  });

  test("has no free bytes for a while after the server has refused a commit on a full disk", async () => {
    const url = await postgres.database();
    const journal = await opened(url);
    expect(await journal.freeBytes()).toBeUndefined();
    await sql(
      url,
      `CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS
         'BEGIN RAISE EXCEPTION ''could not extend file'' USING ERRCODE = ''disk_full''; END';
       CREATE TRIGGER full_disk BEFORE INSERT ON calls FOR EACH ROW EXECUTE FUNCTION full_disk()`,
    );
    await expect(journal.insert(aCall())).rejects.toThrow("could not extend file");
    expect(await journal.freeBytes()).toBe(0n);
    expect(await journal.find(aCall().key)).toBeUndefined();
  });

  test("counts the other replicas that are alive", async () => {
    const url = await postgres.database();
    const [one, two] = [await openPostgresJournal(url), await openPostgresJournal(url)];
    journals.push(one, two);
    expect([await one.others(), await two.others()]).toEqual([1, 1]);
    await outlive(url);
    await one.renew();
    expect([await one.others(), await two.others()]).toEqual([0, 1]);
    await one.release();
    expect(await two.others()).toBe(0);
  });

  test("forgets replicas that died long ago", async () => {
    const url = await postgres.database();
    await opened(url);
    await sql(url, "UPDATE replicas SET until = until - interval '25 hours'");
    await opened(url);
    await opened(url);
    expect(await sql(url, "SELECT until > now() AS alive FROM replicas")).toEqual([{ alive: true }, { alive: true }]);
  });

  test("many calls, committed together by two replicas whose aliases cross, are inserted once each", async () => {
    const url = await postgres.database();
    // Circles of waiting replicas are what this is about; a second for each would be a long test.
    await sql(url, `ALTER DATABASE ${new URL(url).pathname.slice(1)} SET deadlock_timeout = '5ms'`);
    const both = await Promise.all([opened(url), opened(url)]);
    const contenders = Array.from({ length: 400 }, (_, i) =>
      aCall({ key: `key ${(i * 7) % 101}`, aliases: [`alias ${(i * 31) % 61}`], payer: `PAYER ${i}` }),
    );
    const holders = await Promise.all(contenders.map((call, i) => (both[i % 2] as Journal).insert(call)));
    const keys = (await (both[0] as Journal).open()).map(({ key }) => key);
    const rows = await Promise.all(keys.map(async (key) => (await (both[0] as Journal).find(key)) as Call));
    for (const [i, holder] of holders.entries()) {
      const { key, aliases } = contenders[i] as Call;
      expect([holder.key, ...holder.aliases].some((name) => name === key || aliases.includes(name))).toBe(true);
      expect(rows).toContainEqual(holder);
    }
    const names = rows.flatMap(({ key, aliases }) => [key, ...aliases]);
    expect(new Set(names).size).toBe(names.length);
    expect(both.flatMap((journal) => rows.filter(({ key }) => journal.holds(key)))).toHaveLength(rows.length);
  });

  test("replicas that commit the same calls in opposite orders never deadlock", {
    timeout: 8_000,
  }, async () => {
    const url = await postgres.database();
    // A circle would then stand until the statements time out.
    await sql(url, `ALTER DATABASE ${new URL(url).pathname.slice(1)} SET deadlock_timeout = '1h'`);
    const [one, two] = [await opened(url), await opened(url)];
    const [up, down] = await Promise.all([
      Promise.all(calls(200).map((call) => one.insert(call))),
      Promise.all(
        calls(200)
          .reverse()
          .map((call) => two.insert(call)),
      ),
    ]);
    expect(down.reverse()).toEqual(up);
  });

  test("an insertion waits for another replica's of the same alias, and then returns that call", async () => {
    const url = await postgres.database();
    const journal = await opened(url);
    const first = await journal.insert(aCall({ key: "first" }));
    const rival = await rivalFor("group", url, first);
    const inserted = journal.insert(aCall({ key: "second", aliases: ["group"] }));
    await lockAwaited(url);
    await rival.query("COMMIT");
    await rival.end();
    expect(await inserted).toEqual(first);
    expect(await journal.find("second")).toBeUndefined();
  });

  test("a commit whose connection breaks fails as a whole, and succeeds when it is tried again", async () => {
    const url = await postgres.database();
    const [journal, other] = [await opened(url), await opened(url)];
    const rival = await rivalFor("key 50", url, await other.insert(aCall({ key: "other" })));
    const inserting = Promise.allSettled(calls(100).map((call) => journal.insert(call)));
    await lockAwaited(url);
    expect(await terminate(url, "wait_event_type = 'Lock'")).toHaveLength(1);
    expect((await inserting).map(({ status }) => status)).toEqual(calls(100).map(() => "rejected"));
    await rival.query("ROLLBACK");
    await rival.end();
    expect(await journal.open()).toHaveLength(1);
    expect(calls(100).some(({ key }) => journal.holds(key))).toBe(false);
    expect(await Promise.all(calls(100).map((call) => journal.insert(call)))).toEqual(calls(100));
  });

  test("inserts no call whose expectation ended with a connection, which another replica knows", async () => {
    const url = await postgres.database();
    const [journal, other] = [await opened(url), await opened(url)];
    const [lost, kept] = calls(2) as [Call, Call];
    const expectation = await journal.expect([lost.key]);
    expect(await other.isExpectedElsewhere(lost.key)).toBe(true);
    expect(await terminate(url, "query LIKE '%pg_advisory_lock_shared%'")).toHaveLength(1);
    expect(await other.isExpectedElsewhere(lost.key)).toBe(false);
    // The first statements may meet the broken connection itself.
    const again = await vi.waitFor(() => journal.expect([lost.key, kept.key]));
    await expect(journal.insert(lost, expectation)).rejects.toThrow(serviceError("expectation_lost"));
    expect(await other.find(lost.key)).toBeUndefined();
    expectation.end();
    expect(await other.isExpectedElsewhere(lost.key)).toBe(true);
    expect(await journal.insert(kept, again)).toEqual(kept);
  });

  test("expects no more calls at once than the server has locks for", async () => {
    const journal = await opened(await postgres.database());
    const names = Array.from({ length: 500 }, (_, i) => `name ${i}`);
    const expectation = await journal.expect(names);
    await expect(journal.expect(["one more"])).rejects.toThrow(serviceError("journal_busy"));
    expectation.end();
    (await journal.expect(["one more"])).end();
  });

  test("leases a call whose insertion succeeded without an answer", async () => {
    const url = await postgres.database();
    const [one, two] = [await opened(url), await opened(url)];
    const [first, second] = calls(2) as [Call, Call];
    await one.insert(first);
    await two.insert(second);
    await sql(url, "UPDATE calls SET owner = (SELECT owner FROM calls WHERE key = $1)", [first.key]);
    expect(one.holds(second.key)).toBe(false);
    expect(await two.lease(10)).toEqual([]);
    expect(await one.lease(10)).toMatchObject([{ key: second.key, version: second.version }]);
    expect(one.holds(second.key)).toBe(true);
    expect(await one.lease(10)).toEqual([]);
  });

  test("works again after the server was restarted: it commits, leases and gets notifications", async () => {
    const url = await postgres.database();
    const [one, two] = [await opened(url), await opened(url)];
    const [first, second] = calls(2) as [Call, Call];
    await one.insert(first);
    await postgres.stop();
    await expect(one.find(first.key)).rejects.toThrow();
    await expect(one.insert(second)).rejects.toThrow();
    await expect(two.renew()).rejects.toThrow();
    await expect(openPostgresJournal(url)).rejects.toThrow(/^PostgreSQL 127\.0\.0\.1:\d+\/test_\w+: /);
    await postgres.start();

    expect(await one.renew()).toEqual([]);
    expect(await one.find(first.key)).toEqual(first);
    await one.update(after(first, { type: "settlement_begun" }));
    expect(await one.insert(second)).toEqual(second);
    let heard = false;
    two.listen({
      freed: () => {
        heard = true;
      },
    });
    while (!heard) await one.release();
    expect((await two.lease(10)).map(({ key }) => key)).toEqual([first.key, second.key]);
  });

  test("keeps one first entry of the key history, whichever replica is first", async () => {
    const url = await postgres.database();
    const both = [await opened(url), await opened(url)];
    const entries = [1, 2].map((fromRound) => ({ kid: "k", fromRound }) as never);
    await Promise.all(both.map((journal, i) => journal.appendKey(entries[i] as never)));
    const [one, two] = await Promise.all(both.map((journal) => journal.keys()));
    expect(one).toHaveLength(1);
    expect(one).toEqual(two);
  });

  test("gets notifications again after only its listening connection broke", async () => {
    const url = await postgres.database();
    const journal = await opened(url);
    expect(await terminate(url, "query LIKE 'LISTEN%'")).toHaveLength(1);
    const heard = Promise.withResolvers<void>();
    journal.listen({ freed: () => heard.resolve() });
    let over = false;
    heard.promise.then(() => {
      over = true;
    });
    while (!over) await journal.release();
  });

  test("runners on two replicas run each call once, and each waits for the other's calls", async () => {
    const url = await postgres.database();
    let effects = 0;
    const runners = await Promise.all(
      [0, 1].map(async () => {
        const journal = await opened(url);
        const runner = createRunner({
          journal,
          perform: async (call) => {
            effects += 1;
            const [event] = goodCourseFrom(call);
            if (event?.type === "attestation_signed")
              return { ...event, attempt: { ...event.attempt, txid: `ATTEST ${call.key}` } };
            if (event?.type === "attestation_confirmed") return { ...event, txid: `ATTEST ${call.key}` };
            if (event?.type === "bundle_sealed") return { ...event, bundle: { id: call.key, body: "{}" } };
            return event;
          },
          clock: systemClock,
          log: pino({ level: "silent" }),
        });
        await runner.resume();
        return { journal, runner };
      }),
    );
    const ended = await Promise.all(
      calls(40).map(async (call, i) => {
        const [here, there] = i % 2 ? runners : [...runners].reverse();
        const inserted = (await here?.journal.insert(call)) as Call;
        const waited = there?.runner.wait(inserted, AbortSignal.timeout(30_000));
        void here?.runner.start(inserted);
        return waited;
      }),
    );
    expect(ended.map((call) => call?.state)).toEqual(calls(40).map(() => "done"));
    expect(effects).toBe(40 * GOOD_COURSE.length);
    await Promise.all(runners.map(({ runner }) => runner.stop()));
  });

  test.each([
    ["password", (url: string) => url.replace("@", "x@")],
    ["port", (url: string) => url.replace(/:\d+\//, ":1/")],
    ["host", (url: string) => url.replace("127.0.0.1", "no-such-host.invalid")],
    ["database", (url: string) => `${url}x`],
    ["port number", (url: string) => url.replace(/:\d+\//, ":65536/")],
    ["escape", (url: string) => url.replace("@", "%zz@")],
  ])("a URL with a wrong %s is refused in an error without its password", async (_, spoilt) => {
    const error = await openPostgresJournal(spoilt(shared)).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(Error);
    const shown = inspect(error, { depth: 10, showHidden: true });
    for (const secret of [PASSWORD, encodeURIComponent(PASSWORD), "s3cr3t"]) expect(shown).not.toContain(secret);
  });
});

/** Another replica in the middle of a transaction that takes a name for a call. */
async function rivalFor(name: string, url: string, { key }: Call): Promise<Client> {
  const rival = new Client({ connectionString: url });
  rival.on("error", () => undefined);
  await rival.connect();
  await rival.query("BEGIN");
  await rival.query("INSERT INTO names (name, key) VALUES ($1, $2)", [name, key]);
  return rival;
}

/** Resolves once a statement waits for another transaction. */
async function lockAwaited(url: string): Promise<void> {
  const waiting = "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
  while ((await sql(url, waiting)).length === 0);
}

/** Breaks the connections of journals for which a condition on their last statement holds, and waits until the server has ended them. */
function terminate(url: string, condition: string) {
  return sql(
    url,
    `SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity
     WHERE datname = current_database() AND application_name = 'attestd' AND ${condition}`,
  );
}

test("every statement that a call goes through finds its rows by an index that keeps their order", async () => {
  const url = await postgres.database();
  const journal = await openPostgresJournal(url);
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    // Without the journal's own `enable_seqscan = off`, which would hide a scan.
    await client.query(`
      INSERT INTO calls
        (key, state, version, open, rail, payer, subject_hash, payload_sha256, created_at, amount, bundle_id, progress, request)
      SELECT 'row ' || i, 'done', 5, i % 10 = 0, 'base', 'P', 'h', 's', i, 1, 'S ' || i, '{}', ''
      FROM generate_series(1, 20000) AS i;
      INSERT INTO names (name, key) SELECT key, key FROM calls;
      INSERT INTO attempts (txid, key, place, raw, first_valid, last_valid, dead)
      SELECT 'txid ' || key, key, 0, '', 1, 2, FALSE FROM calls;
      INSERT INTO bundle_parts (bundle_id, place, id, bytes, content) SELECT bundle_id, 0, 'item ' || key, 1, '' FROM calls;
      INSERT INTO ledger_blocks (round, state, due, header)
      SELECT i, CASE WHEN i > 19900 THEN 'open' ELSE 'whole' END, i, 'h' FROM generate_series(1, 20000) AS i;
      INSERT INTO ledger_evidence (id, kind, round, state, due, since, block)
      SELECT bundle_id, 'record', created_at, CASE WHEN created_at > 19900 THEN 'waiting' ELSE 'included' END, 1, 1, created_at
      FROM calls;
      ANALYZE`);
    const planOf = async (name: keyof typeof SQL) => {
      const { rows } = await client.query(`EXPLAIN (GENERIC_PLAN) ${SQL[name]}`);
      return rows.map((row) => row["QUERY PLAN"]).join("\n");
    };
    const ofCalls = ["head", "find", "page", "insert", "move", "moveAttempt", "end", "deliver", "prune"] as const;
    const ofBundles = ["stored", "bodyOf", "partsOf", "evidenceOf"] as const;
    const ofEvidence = ["evidenceOfBundle", "postponeEvidence", "postponeBlock", "openBlock", "exclude"] as const;
    for (const name of [...ofCalls, ...ofBundles, ...ofEvidence]) {
      const scans = (await planOf(name)).match(/Seq Scan on (?!replicas|evidence |state_proofs)\w+/g);
      expect(scans, name).toBeNull();
    }
    // Pages by keys, and what is oldest or due by time, without a sort.
    for (const [name, index] of [
      ["page", "calls_pkey"],
      ["open", "calls_open"],
      ["lease", "calls_open"],
      ["toPrune", "calls_to_prune"],
      ["dueEvidence", "ledger_evidence_due"],
      ["dueBlock", "ledger_blocks_open"],
      ["waiting", "ledger_evidence_waiting"],
    ] as const) {
      const plan = await planOf(name);
      expect(plan, name).toContain(index);
      expect(plan.replace(/SubPlan[\s\S]*/, ""), name).not.toContain("Sort");
    }
  } finally {
    await client.end();
    await journal.close();
  }
});

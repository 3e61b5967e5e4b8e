import { createHash } from "node:crypto";
import { appendFile, cp, mkdir, readFile, rm, stat, symlink, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import pino from "pino";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/helpers/temporary-folder.ts";
import { serviceError } from "../../test/errors.ts";
import { aCall } from "../../test/fakes/calls.ts";
import { ACCOUNT, beginJournal, GENESIS, offlineSettings, SECRET } from "../../test/fakes/offline-deployment.ts";
import { sql, startPostgres, type TestPostgres } from "../../test/fakes/postgres.ts";
import { readConfig, type Settings } from "../config/config.ts";
import { openJournal, openJournalReader } from "../journal/open.ts";
import { ownTables } from "../payment/rails/registry.ts";
import { openService } from "../service.ts";
import { adoptPayment } from "./adopt.ts";
import { auditJournal } from "./audit.ts";
import { backUp, checkBackup, restoreBackup } from "./backup.ts";
import { checkJournal } from "./doctor/journal.ts";
import { readKeyHistory } from "./keys.ts";
import { markRestored } from "./put-back.ts";
import { recordRefund } from "./refund.ts";

const options = () => ({ sandbox: false, signal: AbortSignal.timeout(20_000) });

let postgres: TestPostgres;
let folder: Awaited<ReturnType<typeof temporaryFolder>>;
beforeAll(async () => {
  [postgres, folder] = await Promise.all([startPostgres(), temporaryFolder()]);
});
afterAll(async () => {
  await Promise.all([postgres.close(), folder[Symbol.asyncDispose]()]);
});

let places = 0;
/** Makes an empty database, or a folder for one. @returns its `journal.url` */
async function databaseOf(kind: "sqlite" | "postgres"): Promise<string> {
  const path = join(folder.path, `${++places}`, "journal.sqlite");
  await mkdir(join(folder.path, `${places}`));
  return kind === "sqlite" ? `sqlite:${path}` : postgres.database();
}

/** Makes the settings of a deployment without a journal. */
async function deployment(kind: "sqlite" | "postgres") {
  return offlineSettings(await databaseOf(kind));
}

/** Makes a deployment whose service has delivered one call and begun another. */
async function begun(kind: "sqlite" | "postgres") {
  const url = await databaseOf(kind);
  const settings = offlineSettings(url);
  return { settings, url, ...(await beginJournal(settings)) };
}

/** Changes a manifest like an attacker, with a matching digest. */
async function rewrite(from: string, change: (manifest: Record<string, unknown>) => unknown): Promise<void> {
  const path = join(from, "manifest.json");
  const manifest = JSON.parse(await readFile(path, "utf8"));
  change(manifest);
  manifest.digest = "";
  const text = () => `${JSON.stringify(manifest, undefined, 2)}\n`;
  manifest.digest = createHash("sha256").update(text()).digest("hex");
  await writeFile(path, text());
}

/** Rewrites a file's description in the manifest, like an attacker. */
async function describeAgain(from: string, name: string): Promise<void> {
  const bytes = await readFile(join(from, name));
  await rewrite(from, (manifest) => {
    const file = (manifest.files as Record<string, unknown>[]).find((one) => one.name === name);
    Object.assign(file ?? {}, { bytes: bytes.length, sha256: createHash("sha256").update(bytes).digest("hex") });
  });
}

describe.each(["sqlite", "postgres"] as const)("a backup of a journal in %s", (kind) => {
  const JOURNAL = kind === "sqlite" ? "journal.sqlite" : "journal.ndjson";
  let whole: string;
  let saved: Awaited<ReturnType<typeof begun>>;
  let untouched: Settings;
  let untouchedUrl: string;
  beforeAll(async () => {
    untouchedUrl = await databaseOf(kind);
    untouched = offlineSettings(untouchedUrl);
    saved = await begun(kind);
    whole = join(folder.path, `whole ${kind}`);
    await backUp(saved.settings, whole, options());
  });

  let copies = 0;
  async function copy(): Promise<string> {
    const to = join(folder.path, `copy ${kind} ${++copies}`);
    await cp(whole, to, { recursive: true });
    return to;
  }

  test("is restored to what was saved, once", async () => {
    expect(await checkBackup(whole)).toMatchObject({ journal: { calls: { done: 1, settling: 1 }, keys: 1 } });
    const target = await deployment(kind);
    await restoreBackup(target, whole, options());
    await expect(restoreBackup(target, whole, options())).rejects.toThrow(/is there already|has a journal already/);
    const { database } = readConfig(target, { sandbox: false, own: ownTables() });
    await using reader = await openJournalReader(database);
    expect(await Array.fromAsync(reader.calls())).toEqual(saved.calls);
    // `beginJournal` began its calls at that time.
    expect(await reader.copiedUntil()).toBe(1);
    await using original = await openJournalReader(saved.database);
    expect(await original.copiedUntil()).toBeUndefined();
  });

  test("that was made by other means is marked when it was put back, with no service beside it", async () => {
    const { settings, url, database } = await begun(kind);
    const service = await openJournal(database, pino({ level: "silent" }));
    await service.insert(aCall({ key: "third", aliases: [], createdAt: 7 }));
    await expect(markRestored(settings, options())).rejects.toThrow(/has this journal open/);
    await service.release();
    await service.close();
    // A replica counts for some seconds after it has ended.
    if (kind === "postgres") await sql(url, "UPDATE replicas SET until = now()");
    expect(await markRestored(settings, options())).toEqual({ calls: 2 });
    await using reader = await openJournalReader(database);
    expect(await reader.copiedUntil()).toBe(7);
  });

  test("has no secret", async () => {
    const text = await readFile(join(whole, "settings.json"), "utf8");
    expect(JSON.parse(text)).toMatchObject({ "chains.algorand.algod": "(not saved)", "facilitators.kind": ["header"] });
    for (const name of ["settings.json", "keys.json", "manifest.json", JOURNAL])
      expect(await readFile(join(whole, name), "latin1")).not.toContain(SECRET);
  });

  test("is refused when any bit of it has flipped", async () => {
    const from = await copy();
    for (const name of ["manifest.json", "settings.json", "keys.json", JOURNAL]) {
      const path = join(from, name);
      const bytes = await readFile(path);
      // Flips every byte of the manifest, which has no other check, and some bytes of the files, which are hashed.
      const step = name === "manifest.json" ? 1 : Math.ceil(bytes.length / 25);
      for (let at = 0; at < bytes.length; at += step) {
        const flipped = Buffer.from(bytes);
        flipped.writeUInt8(flipped.readUInt8(at) ^ (1 << (at % 8)), at);
        await writeFile(path, flipped);
        await expect(checkBackup(from), `${name} at ${at}`).rejects.toThrow(
          /is not a backup|has changed since it was saved/,
        );
      }
      await writeFile(path, bytes);
    }
    await checkBackup(from);
  });

  test.each<[string, RegExp, (from: string) => Promise<unknown>]>([
    ["a missing journal", /has changed since it was saved/, (from) => rm(join(from, JOURNAL))],
    ["a missing key history", /has changed since it was saved/, (from) => rm(join(from, "keys.json"))],
    ["a missing manifest", /is not a backup/, (from) => rm(join(from, "manifest.json"))],
    ["a file more", /were not saved: x/, (from) => writeFile(join(from, "x"), "")],
    [
      "a link for a file",
      /has changed since/,
      async (from) => {
        await rm(join(from, "keys.json"));
        await symlink(join(whole, "keys.json"), join(from, "keys.json"));
      },
    ],
    [
      "a device for a file",
      /has changed since/,
      async (from) => {
        await rm(join(from, "keys.json"));
        await symlink("/dev/zero", join(from, "keys.json"));
      },
    ],
    [
      "a device for a manifest",
      /is not a backup/,
      async (from) => {
        await rm(join(from, "manifest.json"));
        await symlink("/dev/zero", join(from, "manifest.json"));
      },
    ],
    ["a manifest of many bytes", /is not a backup/, (from) => truncate(join(from, "manifest.json"), 2 ** 32)],
    ["a journal of many bytes", /has changed since/, (from) => truncate(join(from, JOURNAL), 2 ** 40)],
    [
      "a path that leads elsewhere",
      /lists other files/,
      (from) =>
        rewrite(from, ({ files }) => Object.assign((files as object[])[1] ?? {}, { name: "../../../etc/passwd" })),
    ],
    [
      "a file that is named twice",
      /lists other files/,
      (from) => rewrite(from, ({ files }) => (files as object[]).push((files as object[])[0] ?? {})),
    ],
    ["no files", /lists other files/, (from) => rewrite(from, (manifest) => Object.assign(manifest, { files: [] }))],
    [
      "the other database",
      /lists other files/,
      (from) =>
        rewrite(from, (manifest) => Object.assign(manifest, { database: kind === "sqlite" ? "postgres" : "sqlite" })),
    ],
    [
      "a member that we do not know",
      /is not a backup/,
      (from) => rewrite(from, (manifest) => Object.assign(manifest, { x: 1 })),
    ],
    [
      "another backup's counts",
      /has another journal/,
      (from) => rewrite(from, ({ journal }) => Object.assign(journal as object, { calls: { done: 2 } })),
    ],
    [
      "a journal of a later release",
      /a later release/,
      async (from) => {
        if (kind === "sqlite") edit(join(from, JOURNAL), "PRAGMA user_version = 99");
        else
          await writeFile(
            join(from, JOURNAL),
            (await readFile(join(from, JOURNAL), "utf8")).replace(/"schema":\d+/, '"schema":99'),
          );
        await describeAgain(from, JOURNAL);
      },
    ],
    [
      "a journal from before the first release",
      /before its first release/,
      async (from) => {
        if (kind === "sqlite") edit(join(from, JOURNAL), "PRAGMA application_id = 0");
        else
          await writeFile(
            join(from, JOURNAL),
            (await readFile(join(from, JOURNAL), "utf8")).replace(/^.*\n/, '{"schema":1}\n'),
          );
        await describeAgain(from, JOURNAL);
      },
    ],
    [
      "a journal without the dictionary of its rows",
      /lacks the dictionary [0-9a-f]{64}/,
      async (from) => {
        if (kind === "sqlite") edit(join(from, JOURNAL), "DELETE FROM dictionaries");
        else {
          const lines = (await readFile(join(from, JOURNAL), "utf8")).split("\n");
          const left = lines.filter((line) => !line.startsWith('{"table":"dictionaries"'));
          await writeFile(join(from, JOURNAL), left.join("\n"));
        }
        await describeAgain(from, JOURNAL);
      },
    ],
    [
      "a journal whose dictionary is another",
      /has other bytes/,
      async (from) => {
        if (kind === "sqlite") edit(join(from, JOURNAL), "UPDATE dictionaries SET content = substr(content, 2)");
        else {
          const text = await readFile(join(from, JOURNAL), "utf8");
          await writeFile(join(from, JOURNAL), text.replace(/(?<="content":"\\\\x)[0-9a-f]{2}/, "00"));
        }
        await describeAgain(from, JOURNAL);
      },
    ],
    [
      "a journal that is none",
      /not a database|ends within a line/,
      async (from) => {
        await writeFile(join(from, JOURNAL), "no journal, but long enough to be taken for one".repeat(99));
        await describeAgain(from, JOURNAL);
      },
    ],
  ])("is refused with %s", async (_, reason, attack) => {
    const from = await copy();
    await attack(from);
    await expect(checkBackup(from)).rejects.toThrow(reason);
    await expect(restoreBackup(untouched, from, options())).rejects.toThrow(reason);
    if (kind === "postgres") expect(await tablesOf(untouchedUrl)).toEqual([]);
    else await expect(stat(untouchedUrl.slice("sqlite:".length))).rejects.toThrow("ENOENT");
  });

  test("of another ledger is not restored", async () => {
    const from = await copy();
    const other = GENESIS.replace("w", "x");
    if (kind === "sqlite")
      edit(join(from, JOURNAL), `UPDATE meta SET value = replace(value, '${GENESIS}', '${other}')`);
    else await writeFile(join(from, JOURNAL), (await readFile(join(from, JOURNAL), "utf8")).replace(GENESIS, other));
    await describeAgain(from, JOURNAL);
    await rewrite(from, ({ journal }) =>
      Object.assign((journal as { identity: object }).identity, { genesisHash: other }),
    );
    await checkBackup(from);
    await expect(restoreBackup(await deployment(kind), from, options())).rejects.toThrow("journal of another ledger");
  });

  test.each([
    [
      "of a later release",
      "a later release of attestd has written this journal: run that release, or a later one",
      "PRAGMA user_version = 99",
      "INSERT INTO schema_versions (version) VALUES (99)",
    ],
    [
      "from before the first release",
      "it was made by an attestd from before its first release, in another form: start with a new journal",
      "PRAGMA application_id = 0",
      "ALTER TABLE schema_versions RENAME TO migrations",
    ],
  ])("each command refuses a journal %s, and says what to do", async (_, reason, inFile, onServer) => {
    const { settings, database } = await begun(kind);
    if (database.kind === "sqlite") edit(database.path, inFile);
    else await sql(database.url, onServer);
    for (const [name, run] of Object.entries(commandsOn(settings))) await expect(run(), name).rejects.toThrow(reason);
    expect(await doctorOn(settings)).toContainEqual({ mark: "fail", message: expect.stringContaining(reason) });
  });
});

/** The commands that an operator may run on a deployment. */
function commandsOn(settings: Settings): Record<string, () => Promise<unknown>> {
  const config = readConfig(settings, { sandbox: false, own: ownTables() });
  const txid = "A".repeat(52);
  return {
    serve: () => openService(config, "https://a.example", pino({ level: "silent" })),
    audit: () => auditJournal(settings, options()),
    adopt: () => adoptPayment(settings, { target: txid, subject: { txid }, onWait: () => undefined }, options()),
    refund: () => recordRefund(settings, { key: "key", transaction: txid }, options()),
    history: () => readKeyHistory(settings, options()),
    "restore --in-place": () => markRestored(settings, options()),
    backup: () => backUp(settings, join(folder.path, `never ${++places}`), options()),
  };
}

/** Returns the doctor's findings about the journal. */
async function doctorOn(settings: Settings) {
  const config = readConfig(settings, { sandbox: false, own: ownTables() });
  const ledger = { genesisHash: GENESIS, address: ACCOUNT.addr.toString() };
  return checkJournal({ config, ledger } as Parameters<typeof checkJournal>[0]);
}

function edit(path: string, statement: string): void {
  const db = new DatabaseSync(path);
  db.exec(statement);
  db.close();
}

async function tablesOf(url: string): Promise<unknown[]> {
  return sql(url, "SELECT tablename FROM pg_tables WHERE schemaname = 'public'");
}

test("an SQLite backup with a trigger, or with another table than a journal has, is refused", async () => {
  const { settings } = await begun("sqlite");
  const whole = join(folder.path, "schema");
  await backUp(settings, whole, options());
  for (const [i, statement] of [
    "CREATE TRIGGER steal AFTER INSERT ON payees BEGIN UPDATE payees SET address = 'THIEF'; END",
    "CREATE VIEW more AS SELECT 1",
    "DROP INDEX calls_open",
  ].entries()) {
    const from = `${whole} ${i}`;
    await cp(whole, from, { recursive: true });
    edit(join(from, "journal.sqlite"), statement);
    await describeAgain(from, "journal.sqlite");
    await expect(checkBackup(from), statement).rejects.toThrow("its tables are not those of a journal");
  }
});

test("a line of a PostgreSQL backup that would fill the memory, or that is cut off, is refused", async () => {
  const { settings } = await begun("postgres");
  const from = join(folder.path, "bomb");
  await backUp(settings, from, options());
  const path = join(from, "journal.ndjson");
  await appendFile(path, '{"table":"calls"');
  await describeAgain(from, "journal.ndjson");
  await expect(checkBackup(from)).rejects.toThrow("ends within a line");
  // A hole in the file: zeros that occupy no space on disk.
  await truncate(path, 64 * 1024 * 1024);
  await describeAgain(from, "journal.ndjson");
  await expect(checkBackup(from)).rejects.toThrow("a line of more than");
});

test("a file that was put back damaged is not taken, as where the WAL of another stood beside it", async () => {
  const { settings, url } = await begun("sqlite");
  const path = url.slice("sqlite:".length);
  edit(path, "PRAGMA foreign_keys = OFF; DELETE FROM calls");
  await expect(markRestored(settings, options())).rejects.toThrow(
    /rows of names refer to nothing\. Put the right file there again, without -wal and -shm/,
  );
});

test("a folder that exists is not written to", async () => {
  const { settings } = await begun("sqlite");
  await expect(backUp(settings, folder.path, options())).rejects.toThrow(serviceError("argument_invalid"));
});

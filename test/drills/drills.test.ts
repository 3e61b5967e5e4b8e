import { join } from "node:path";
import { type Sandbox, startSandbox } from "@attestd/sandbox";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Databases, type JournalKind, openDatabases } from "../crash/databases.ts";
import { createStarter, createTurns } from "../crash/process.ts";
import { start } from "../helpers/command.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";
import { restoreBehind } from "./behind.ts";
import { failOver } from "./failover.ts";
import { killBackup, killPrune, killRestore, newPlace, type Place } from "./kills.ts";

/* A few of the kills of `npm run drill`, each in the middle of the work where a file shows when that is. */

const CALLS = 40;
const ROUND_MS = 300;
const DELIVERED = { savedAfter: "call_begun", delivers: true } as const;
const KINDS: JournalKind[] = ["sqlite", "postgres"];

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let databases: Databases;
let sandbox: Sandbox;
beforeAll(async () => {
  [folder, databases, sandbox] = await Promise.all([
    temporaryFolder(),
    openDatabases(new Set(KINDS)),
    startSandbox({ roundMs: ROUND_MS, networks: [] }),
  ]);
});
afterAll(async () => {
  await sandbox.close();
  await databases.close();
  await folder[Symbol.asyncDispose]();
});

describe.each(KINDS)("in %s", (kind) => {
  let place: Place;
  beforeAll(async () => {
    place = await newPlace(kind, databases, folder.path, CALLS);
  });

  test("a backup that is killed while it writes is no backup, and is made again", async () => {
    expect(await killBackup(place, { after: "write", ms: 0 })).toMatchObject({ wrong: [] });
  });

  test("a restore that is killed leaves no journal or the whole one, and is run again", async () => {
    const whole = join(folder.path, `whole ${kind}`);
    expect(await start(["backup", "--to", whole, "--settings", place.file], { cwd: folder.path }).ended).toMatchObject({
      code: 0,
    });
    const moment = { after: kind === "sqlite" ? "write" : "start", ms: kind === "sqlite" ? 0 : 900 } as const;
    expect(await killRestore(place, whole, moment)).toMatchObject({ wrong: [] });
  });

  test("a call that was delivered after the backup is not attested for again", async () => {
    const turn = createTurns();
    const testBed = {
      ...{ sandbox, databases, start: createStarter(turn), turn, patienceMs: 120_000 },
      expireLeasesAtOnce: true,
    };
    const accountKey = kind === "sqlite" ? "falcon-1024" : "ed25519";
    expect(await restoreBehind(testBed, { ...DELIVERED, kind, accountKey }, folder.path)).toEqual([]);
  });

  test("a pruning that is killed leaves each call whole or pruned, and is run again", async () => {
    expect(await killPrune(place, { after: "start", ms: 700 })).toMatchObject({ wrong: [] });
  });
});

describe("in postgres, whose standby takes over", () => {
  const turn = createTurns();
  const testBed = () => ({
    ...{ sandbox, databases, start: createStarter(turn), turn, patienceMs: 120_000 },
    expireLeasesAtOnce: true,
  });

  test("without the newest commits, sales stop until they are known to be lost, and nothing is attested twice", async () => {
    expect(await failOver(testBed(), { synchronous: false })).toMatchObject({ wrong: [] });
  });

  test("with all commits, everything is delivered, and sales do not stop", async () => {
    expect(await failOver(testBed(), { synchronous: true })).toMatchObject({ wrong: [] });
  });
});

import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Databases, type JournalKind, openDatabases } from "../crash/databases.ts";
import { start } from "../helpers/command.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";
import { killBackup, killPrune, killRestore, newPlace, type Place } from "./kills.ts";

/* A few of the kills of `npm run drill`, each in the middle of the work where a file shows when that is. */

const CALLS = 40;
const KINDS: JournalKind[] = ["sqlite", "postgres"];

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let databases: Databases;
beforeAll(async () => {
  [folder, databases] = await Promise.all([temporaryFolder(), openDatabases(new Set(KINDS))]);
});
afterAll(async () => {
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
    expect(await start(["backup", "--to", whole], { cwd: folder.path, env: place.settings }).ended).toMatchObject({
      code: 0,
    });
    const moment = { after: kind === "sqlite" ? "write" : "start", ms: kind === "sqlite" ? 0 : 900 } as const;
    expect(await killRestore(place, whole, moment)).toMatchObject({ wrong: [] });
  });

  test("a pruning that is killed leaves each call whole or pruned, and is run again", async () => {
    expect(await killPrune(place, { after: "start", ms: 700 })).toMatchObject({ wrong: [] });
  });
});

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { aCall } from "../testing.ts";
import { storeContract } from "./contract.ts";
import { keyContract } from "./key-contract.ts";
import { openSqliteStore } from "./sqlite.ts";

async function place() {
  const dir = await mkdtemp(join(tmpdir(), "attestd-store-"));
  return {
    open: () => openSqliteStore(join(dir, "journal.sqlite")),
    remove: () => rm(dir, { recursive: true }),
  };
}

storeContract("SQLite", place);
keyContract("SQLite", place);

test("a file that another store has open is refused, and free again once that one is closed", async () => {
  const dir = await mkdtemp(join(tmpdir(), "attestd-store-"));
  const path = join(dir, "journal.sqlite");
  const first = await openSqliteStore(path);
  await expect(openSqliteStore(path)).rejects.toThrow("another process");
  await first.insert(aCall());
  await first.close();
  await expect(first.find("any")).rejects.toThrow("closed");
  const second = await openSqliteStore(path);
  expect(await second.open()).toHaveLength(1);
  await second.close();
  await rm(dir, { recursive: true });
});

test("a path that cannot be opened says so", async () => {
  await expect(openSqliteStore("/no/such/folder/journal.sqlite")).rejects.toThrow("/no/such/folder/journal.sqlite");
});

test("a file that a later release has migrated is refused", async () => {
  const dir = await mkdtemp(join(tmpdir(), "attestd-store-"));
  const path = join(dir, "journal.sqlite");
  await (await openSqliteStore(path)).close();
  const db = new DatabaseSync(path);
  db.exec("PRAGMA user_version = 1000");
  db.close();
  await expect(openSqliteStore(path)).rejects.toThrow("a later release");
  await rm(dir, { recursive: true });
});

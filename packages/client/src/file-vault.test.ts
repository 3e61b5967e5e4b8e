import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, readdir, rm, stat, symlink, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { fileVault } from "./file-vault.ts";
import type { StoredPayment } from "./vault.ts";

const ID = "http://service TXID";
const payment = (header: string): StoredPayment => ({
  version: 1,
  service: "http://service",
  request: { path: "/attest", body: { txid: "TXID" } },
  header,
  offer: { network: "eip155:8453", amount: "1000", payTo: "0x1", payer: "0x2", maxTimeoutSeconds: 120 },
  until: 1_800_000_180_000,
});

describe("a vault of files", () => {
  let parent: string;
  let folder: string;
  beforeEach(async () => {
    parent = await mkdtemp(join(tmpdir(), "attestd-vault-"));
    folder = join(parent, "deep", "payments");
  });
  afterEach(() => rm(parent, { recursive: true }));

  test("gives back what another process stored", async () => {
    await fileVault(folder).put(ID, payment("H1"));
    expect(await fileVault(folder).get(ID)).toEqual(payment("H1"));
    expect(await fileVault(folder).get("http://service OTHER")).toBeUndefined();
  });

  test("is the owner's alone", async () => {
    const vault = fileVault(folder);
    await vault.put(ID, payment("H1"));
    expect((await stat(vault.path(ID))).mode & 0o777).toBe(0o600);
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
  });

  test("keeps the first of many payments stored at once, and tells everyone which", async () => {
    const headers = Array.from({ length: 20 }, (_, i) => `H${i}`);
    const stored = await Promise.all(headers.map((header) => fileVault(folder).put(ID, payment(header))));
    const kept = await fileVault(folder).get(ID);
    expect(new Set(stored.map(({ header }) => header))).toEqual(new Set([kept?.header]));
    expect(await readdir(folder)).toHaveLength(1);
  });

  test("forgets a payment, but not the one that came after it", async () => {
    const vault = fileVault(folder);
    await vault.put(ID, payment("H1"));
    await vault.remove(ID, payment("H0"));
    expect((await vault.get(ID))?.header).toBe("H1");
    await vault.remove(ID, payment("H1"));
    expect(await vault.get(ID)).toBeUndefined();
    await vault.remove(ID, payment("H1"));
  });

  test("keeps one payment of many processes that wake when the last one is void, and tells each of them which", async () => {
    for (let round = 0; round < 20; round++) {
      const id = `${ID} ${round}`;
      await fileVault(folder).put(id, payment("void"));
      const renewed = Array.from({ length: 8 }, async (_, n) => {
        const vault = fileVault(folder);
        await vault.remove(id, payment("void"));
        return (await vault.put(id, payment(`H${n}`))).header;
      });
      expect(new Set(await Promise.all(renewed))).toEqual(new Set([(await fileVault(folder).get(id))?.header]));
    }
    expect(await readdir(folder)).toHaveLength(20);
  });

  test("takes a lock whose holder was killed", async () => {
    const vault = fileVault(folder);
    await vault.put(ID, payment("H1"));
    const lock = `${vault.path(ID)}.lock`;
    await mkdir(lock);
    await utimes(lock, 0, 0);
    await vault.remove(ID, payment("H1"));
    expect(await readdir(folder)).toEqual([]);
  });

  test("takes nothing else for a payment: an unreadable one may be paid already", async () => {
    const vault = fileVault(folder);
    await vault.put(ID, payment("H1"));
    await writeFile(vault.path(ID), '{"version":1}');
    await expect(vault.get(ID)).rejects.toThrow("is not a stored payment");
    await writeFile(vault.path(ID), "{");
    await expect(vault.get(ID)).rejects.toThrow("is not JSON");
    await rm(vault.path(ID));
    execFileSync("mkfifo", [vault.path(ID)]);
    await expect(vault.get(ID)).rejects.toThrow("is not a stored payment");
    await rm(vault.path(ID));
    await symlink("/dev/zero", vault.path(ID));
    await expect(vault.get(ID)).rejects.toThrow("ELOOP");
  });
});

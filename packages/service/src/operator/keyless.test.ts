import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/helpers/temporary-folder.ts";
import { serviceError } from "../../test/errors.ts";
import { ACCOUNT, beginJournal, offlineSettings } from "../../test/fakes/offline-deployment.ts";
import { withOver } from "../../test/settings.ts";
import { backUp, restoreBackup } from "./backup.ts";
import { readKeyHistory, revokeKey, rotateKey } from "./keys.ts";
import { pruneJournal } from "./prune.ts";

/*
 * Commands on a machine that has the journal and the settings, but not the attestor's keys. The audit:
 * test/e2e/audit.test.ts.
 */

const options = () => ({ sandbox: false, signal: AbortSignal.timeout(20_000) });

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
beforeAll(async () => {
  folder = await temporaryFolder();
  await mkdir(join(folder.path, "a"));
  await beginJournal(offlineSettings(urlOf("a")));
});
afterAll(() => folder[Symbol.asyncDispose]());

const urlOf = (name: string) => `sqlite:${join(folder.path, name, "journal.sqlite")}`;

/** Makes settings that name the keys' files, which only the service can read. */
function keyless(name: string) {
  return withOver(offlineSettings(urlOf(name)), { attestor: { mnemonic: "file:/no/words", pq_seed: "file:/no/seed" } });
}

test("without the attestor's keys a journal is saved, restored, pruned and read", async () => {
  const saved = join(folder.path, "saved");
  const { journal } = await backUp(keyless("a"), saved, options());
  await mkdir(join(folder.path, "b"));
  expect((await restoreBackup(keyless("b"), saved, options())).journal).toEqual(journal);
  expect(await pruneJournal(keyless("b"), { days: 1, isDry: false }, options())).toMatchObject({ calls: 1 });
  const { keys } = await readKeyHistory(keyless("b"), options());
  expect(keys.map(({ algorandAddress }) => algorandAddress)).toEqual([ACCOUNT.addr.toString()]);
});

test("a command that signs says which key it lacks", async () => {
  const onWait = () => undefined;
  const revoked = revokeKey(keyless("a"), { kid: "x", round: undefined, onWait }, options());
  await expect(revoked).rejects.toEqual(serviceError("config_invalid"));
  await expect(revoked).rejects.toThrow("attestor.mnemonic names /no/words, which cannot be read: ENOENT.");
  const rotated = rotateKey(keyless("a"), { attestor: async (current) => current, onWait }, options());
  await expect(rotated).rejects.toThrow("attestor.pq_seed names /no/seed, which cannot be read: ENOENT.");
});

import { beforeEach, expect, test } from "vitest";
import { testAttestor } from "../../../../test/bundles/bundles.ts";
import { MemoryKeys } from "../../test/fakes/keys.ts";
import { NoteLedger } from "../../test/fakes/note-ledger.ts";
import { seedSigner } from "../../test/seed-signer.ts";
import { type KeyChangeOptions, revokeKey, rotateKey } from "./key-records.ts";
import { openKeyWatch } from "./key-watch.ts";

const LEDGER = "algorand:wGHE2Pwdvd7S12BL5FaOP20EGYesN73k";
const { algorandAddress } = testAttestor();
const [first, second] = [1, 2].map((byte) => seedSigner(new Uint8Array(32).fill(byte))) as [
  ReturnType<typeof seedSigner>,
  ReturnType<typeof seedSigner>,
];
const opening = { ledger: LEDGER, algorandAddress, origin: "https://attestd.example", round: 10 };

let journal: MemoryKeys;
let options: KeyChangeOptions;
let now: number;
let told: string[];
beforeEach(() => {
  journal = new MemoryKeys();
  const ledger = new NoteLedger(LEDGER, algorandAddress);
  const signal = new AbortController().signal;
  options = { journal, ledger, unfinished: async () => 0, onWait: () => undefined, signal };
  now = 0;
  told = [];
});

async function watch(signer = first) {
  return openKeyWatch({ ...opening, journal, signer, now: () => now, onUnusable: (reason) => told.push(reason) });
}

const rotate = () => rotateKey({ current: first, next: second, origin: undefined }, options);

test("a replica that missed a rotation finds out before it signs anything, and reports it once", async () => {
  const keys = await watch();
  await rotate();
  await keys.confirm();
  now += 5_001;
  for (let i = 0; i < 2; i++)
    await expect(keys.confirm()).rejects.toThrow(`the history's current key is ${second.kid}`);
  await keys.refresh();
  expect(told).toEqual([expect.stringContaining("which was replaced in round 111:")]);
  expect(keys.unavailableReason()).toBe(told[0]);
  expect(keys.history().keys).toHaveLength(2);
});

test("a rotation that is only announced, and a revocation, stop it too; another key's revocation does not", async () => {
  const old = await watch();
  journal.conclude = async () => {
    throw new Error("killed");
  };
  await expect(rotate()).rejects.toThrow("killed");
  await old.refresh();
  expect(old.unavailableReason()).toContain(`is being replaced by ${second.kid}`);
  await expect(watch()).rejects.toThrow("is being replaced by");

  journal.conclude = MemoryKeys.prototype.conclude;
  await rotate();
  const present = await watch(second);
  await revokeKey(first.kid, undefined, options);
  await present.refresh();
  await present.confirm();
  await revokeKey(second.kid, undefined, options);
  await present.refresh();
  expect(present.unavailableReason()).toContain("is revoked from round");
});

test("a journal that cannot be read stops signing once the history is old, and leaves the history as it is", async () => {
  const keys = await watch();
  journal.keys = () => Promise.reject(new Error("no answer"));
  await keys.confirm();
  now += 5_001;
  await expect(keys.confirm()).rejects.toThrow("no answer");
  expect([keys.unavailableReason(), told, keys.history().keys.length]).toEqual([undefined, [], 1]);
  journal.keys = MemoryKeys.prototype.keys;
  await keys.confirm();
});

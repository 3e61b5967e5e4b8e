import { parseKeyHistory } from "@attestd/proof";
import { expect, test } from "vitest";
import { testAttestor } from "../../../../test/bundles/bundles.ts";
import { testTakeover } from "../../../../test/bundles/takeover.ts";
import { MemoryKeys } from "../../test/fakes/keys.ts";
import { seedSigner } from "../../test/seed-signer.ts";
import { nativeCrypto } from "../lib/crypto/crypto.ts";
import { openHistory } from "./history.ts";

const LEDGER = "algorand:wGHE2Pwdvd7S12BL5FaOP20EGYesN73k";
const { algorandAddress } = testAttestor();

const options = { ledger: LEDGER, algorandAddress, origin: "https://attestd.example" };
const signer = (byte: number) => seedSigner(new Uint8Array(32).fill(byte));

test("a history begins once, at the ledger's round, and any verifier can read it", async () => {
  const journal = new MemoryKeys();
  const first = await openHistory({ ...options, journal, signer: signer(1), round: 100 });
  const again = await openHistory({
    ...options,
    journal,
    signer: signer(1),
    round: 500,
    origin: "https://moved.example",
  });
  expect(again).toEqual(first);
  expect(parseKeyHistory(JSON.parse(JSON.stringify(first.history)), nativeCrypto)).toEqual(first.history);
  expect(first.history.keys).toMatchObject([{ kid: signer(1).kid, fromRound: 100, origin: options.origin }]);
});

test("a seed or an account that is not the current entry's stops the start", async () => {
  const journal = new MemoryKeys();
  await openHistory({ ...options, journal, signer: signer(1), round: 100 });
  await expect(openHistory({ ...options, journal, signer: signer(2), round: 101 })).rejects.toThrow(
    "The attestor's key",
  );
  const other = { ...options, algorandAddress: testAttestor("other").algorandAddress };
  await expect(openHistory({ ...other, journal, signer: signer(1), round: 101 })).rejects.toThrow(
    "The attestor's account",
  );
});

test("a history that was tampered with in the journal stops the start", async () => {
  const journal = new MemoryKeys();
  await openHistory({ ...options, journal, signer: signer(1), round: 100 });
  const [first] = journal.entries;
  if (first) journal.entries[0] = { ...first, keySha256: signer(2).keySha256 };
  const opened = openHistory({ ...options, journal, signer: signer(1), round: 101 });
  await expect(opened).rejects.toThrow("is not valid: /keys/0/keySha256");
});

test("a history with a successor of another account, as the thief of a seed would make, stops the start", async () => {
  const { history } = testTakeover();
  const journal = new MemoryKeys();
  for (const { untilRound: _until, revokedRound: _revoked, ...entry } of history.keys) await journal.appendKey(entry);
  const opened = openHistory({ ...options, journal, signer: signer(1), round: 2000 });
  await expect(opened).rejects.toThrow("is not valid: /keys/1/algorandAddress");
});

import { hash } from "node:crypto";
import type { RecordedNote } from "@attestd/proof";
import { algorandCaip2, encodeAddress } from "@attestd/proof/algorand";
import { keyEntryBytes, keyEntryHash, keyNotePrefix, keyRevocationBytes } from "@attestd/proof/attestor";
import { toBase64 } from "@attestd/proof/encoding";
import { beforeEach, expect, test } from "vitest";
import { blockOf, GENESIS, idOf, payment } from "../../test/fakes/algorand-providers.ts";
import { MemoryKeys } from "../../test/fakes/keys.ts";
import { seedSigner } from "../../test/seed-signer.ts";
import { unavailable } from "../providers/provider.ts";
import { entryOf } from "./history.ts";
import { keyNotesIn, watchKeyNotes } from "./key-notes.ts";

const LEDGER = algorandCaip2(GENESIS);
/** The account of the fake ledger's payments. */
const ACCOUNT = encodeAddress(new Uint8Array(32).fill(1));
const signer = (byte: number) => seedSigner(new Uint8Array(32).fill(byte));
const members = { algorandAddress: ACCOUNT, origin: "https://attestd.example", fromRound: 10 };
const FIRST = entryOf(signer(1), members);
const UNENDORSED = entryOf(signer(2), { ...members, fromRound: 60 });
const endorsement = await signer(1).sign(keyEntryBytes(UNENDORSED), AbortSignal.timeout(10_000));
const NEXT = { ...UNENDORSED, endorsement: toBase64(endorsement) };
const noteOf = (k: string) => `${keyNotePrefix(LEDGER)}${k}"}`;
const ROTATION = noteOf(keyEntryHash(NEXT));
const BEHIND =
  /^key_history_behind: the note \w+ in round \d+ announces a key or a revocation that the history lacks\. Restore/;

let journal: MemoryKeys;
let latest: number;
let blocks: Map<number, Uint8Array>;
let indexed: RecordedNote[];
let upTo: number;
let isAway: boolean;
let searched: number[];
let looked: number[];
let watch: ReturnType<typeof watchKeyNotes>;
beforeEach(async () => {
  journal = new MemoryKeys();
  await journal.appendKey(FIRST);
  [latest, blocks, indexed, upTo, isAway, searched, looked] = [100, new Map(), [], 100, false, [], []];
  watch = watchKeyNotes({
    journal,
    ledger: LEDGER,
    account: ACCOUNT,
    rounds: { latest: () => latest, next: () => Promise.reject(new Error("not asked for here")) },
    newest: {
      latest: () => latest,
      block(round) {
        looked.push(round);
        return blocks.get(round);
      },
    },
    async search(from) {
      searched.push(from);
      if (isAway) throw unavailable("the indexer is away");
      return { upTo, notes: indexed.filter(({ round }) => round >= from) };
    },
    clock: { sleep: async () => {} },
    log: { warn() {} },
  });
});

const refresh = () => watch.refresh(AbortSignal.timeout(1_000));
/** Returns whether the notes have been read, and what the history lacks. */
function status(): [boolean, string | undefined] {
  const status = watch.status();
  if (status.state !== "unavailable") return [true, undefined];
  return status.code === "providers_unavailable" ? [false, undefined] : [true, status.reason];
}
/** Makes the next round, with transactions that have these notes. */
function advance(...notes: string[]): void {
  latest += 1;
  blocks.set(
    latest,
    blockOf(
      latest,
      notes.map((note) => payment(note)),
    ),
  );
}

test("nothing is known, and nothing sold, before the ledger's notes were read once", async () => {
  isAway = true;
  await expect(refresh()).rejects.toThrow("the indexer is away");
  expect(status()).toEqual([false, undefined]);
  isAway = false;
  await refresh();
  expect([status(), searched]).toEqual([
    [true, undefined],
    [0, 0],
  ]);
});

test("a start costs the same however many rounds the ledger has, and so does a round after many that were missed", async () => {
  latest = upTo = 50_000_000;
  await refresh();
  expect([looked, searched]).toEqual([[], [0]]);
  latest += 1_000_000;
  await refresh();
  expect([looked, searched]).toEqual([[50_000_001], [0, 50_000_001]]);
});

test("a note of before the start that the journal does not know is a reason to sell nothing, until it has the key", async () => {
  indexed = [{ txid: "NOTE", round: 50, sender: ACCOUNT, note: ROTATION }];
  await refresh();
  expect(status()).toEqual([true, expect.stringMatching(BEHIND)]);
  await journal.appendKey(NEXT);
  await refresh();
  expect(status()).toEqual([true, undefined]);
});

test("a key of the journal that the ledger has no note of is a reason too", async () => {
  await journal.appendKey(NEXT);
  await refresh();
  expect(status()[1]).toContain("key_history_behind: the ledger has no note of the key");
});

test("notes that come are read from the blocks that are read anyway; the indexer is asked about blocks that are not kept", async () => {
  await refresh();
  for (let i = 0; i < 5; i++) advance("gm", "attestd/v1:j{}");
  await refresh();
  expect([status(), searched]).toEqual([[true, undefined], [0]]);
  latest += 10;
  upTo = 112;
  await refresh();
  expect(searched).toEqual([0, 106]);
  advance(ROTATION);
  upTo = 115;
  await refresh();
  advance(ROTATION);
  await refresh();
  expect([status(), searched]).toEqual([
    [true, expect.stringMatching(BEHIND)],
    [0, 106, 113],
  ]);
});

test("a change that an operator's command has announced in the journal is none that it lacks", async () => {
  await refresh();
  const revocation = { kid: FIRST.kid, revokedRound: 90 };
  const k = hash("sha256", keyRevocationBytes({ ...FIRST, ...revocation }));
  const made = payment(noteOf(k));
  const attempt = { txid: idOf(made), raw: new Uint8Array(), firstValid: 1, lastValid: 1_000 };
  await journal.announce({ record: { kind: "revocation", ...revocation }, attempt });
  advance(noteOf(k));
  await refresh();
  expect(status()).toEqual([true, undefined]);
  await journal.conclude(attempt.txid, "noted");
  await refresh();
  expect(status()).toEqual([true, undefined]);
});

test("a block's key notes are those of the account alone, and of its ledger", () => {
  const others = [payment("gm"), payment(`x${ROTATION}`), payment(ROTATION, { amt: 1 })];
  const stranger = payment(ROTATION).set("snd", new Uint8Array(32).fill(9));
  const block = blockOf(7, [...others, stranger, payment(ROTATION)]);
  const found = keyNotesIn(block, { round: 7, ledger: LEDGER, account: ACCOUNT });
  expect(found).toEqual(
    [payment(ROTATION, { amt: 1 }), payment(ROTATION)].map((made) => ({
      txid: idOf(made),
      round: 7,
      sender: ACCOUNT,
      note: ROTATION,
    })),
  );
  expect(keyNotesIn(block, { round: 7, ledger: `${LEDGER.slice(0, -1)}_`, account: ACCOUNT })).toEqual([]);
});

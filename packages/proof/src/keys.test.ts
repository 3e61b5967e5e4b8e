import { describe, expect, it } from "vitest";
import { testAttestor, testHistory } from "../../../test/bundles/bundles.ts";
import { testTakeover } from "../../../test/bundles/takeover.ts";
import { nativeCrypto } from "../test/native-crypto.ts";
import { toBase64, toHex, utf8 } from "./encoding.ts";
import { isProofError } from "./errors.ts";
import { checkKeyNotes, keyNotePrefix, keyRevocationHash, type RecordedNote, requireContinuation } from "./keys.ts";
import { encodeNote } from "./note.ts";
import { type KeyEntry, type KeyHistory, keyEntryHash, parseKeyHistory } from "./trust.ts";
import { verify } from "./verify.ts";

// One account for all keys, as every deployment has.
const [first, second, third] = ["1", "2", "3"].map((name) => ({
  ...testAttestor(name),
  algorandAddress: testAttestor("1").algorandAddress,
})) as [ReturnType<typeof testAttestor>, ReturnType<typeof testAttestor>, ReturnType<typeof testAttestor>];
const account = first.algorandAddress;

const one = testHistory([{ attestor: first, fromRound: 100 }]);
const two = testHistory([
  { attestor: first, fromRound: 100 },
  { attestor: second, fromRound: 200 },
]);
const revoked = testHistory([
  { attestor: first, fromRound: 100, revokedRound: 150 },
  { attestor: second, fromRound: 200 },
]);
const three = testHistory([
  { attestor: first, fromRound: 100, revokedRound: 150 },
  { attestor: second, fromRound: 200 },
  { attestor: third, fromRound: 300 },
]);

const withEntry = (history: KeyHistory, index: number, change: Partial<KeyEntry>): KeyHistory => ({
  ...history,
  keys: history.keys.map((entry, at) => (at === index ? { ...entry, ...change } : entry)),
});

describe("requireContinuation", () => {
  const refusal = (known: KeyHistory, fresh: KeyHistory) => {
    try {
      requireContinuation(known, fresh);
    } catch (error) {
      if (isProofError(error, "format")) return error.pointer;
      throw error;
    }
    return undefined;
  };

  it("takes a history to which keys and revocations were added", () => {
    for (const [known, fresh] of [
      [one, one],
      [one, two],
      [two, revoked],
      [one, three],
      [revoked, three],
    ] as const)
      expect(refusal(known, fresh)).toBeUndefined();
  });

  it.each<[string, KeyHistory, KeyHistory, string]>([
    ["a cut end", two, one, "/keys/1"],
    ["a revocation taken back", revoked, two, "/keys/0/revokedRound"],
    ["a revocation moved", revoked, withEntry(three, 0, { revokedRound: 151 }), "/keys/0/revokedRound"],
    ["an altered first round", one, withEntry(one, 0, { fromRound: 1 }), "/keys/0"],
    ["an altered first origin", one, withEntry(two, 0, { origin: "https://other.example" }), "/keys/0"],
    ["another attestor", one, testHistory([{ attestor: second, fromRound: 100 }]), "/keys/0"],
    ["another ledger", one, { ...one, ledger: "algorand:other" }, "/ledger"],
  ])("refuses %s", (_what, known, fresh, pointer) => {
    expect(refusal(known, fresh)).toBe(pointer);
  });

  it("finds what a history by itself does not show", () => {
    for (const history of [one, two, withEntry(one, 0, { fromRound: 1 })])
      expect(parseKeyHistory(JSON.parse(JSON.stringify(history)), nativeCrypto)).toEqual(history);
  });
});

describe("a history by itself", () => {
  const other = testAttestor("other");
  const altered: { [K in keyof KeyEntry]-?: NonNullable<KeyEntry[K]> } = {
    type: "attestor-key",
    version: 1,
    kid: other.kid,
    keySha256: other.keySha256,
    pqPublicKey: toBase64(other.publicKey),
    algorandAddress: other.algorandAddress,
    origin: "https://other.example",
    fromRound: 7,
    untilRound: 250,
    revokedRound: 251,
    endorsement: toBase64(other.sign(utf8("anything"))),
  };
  const isTaken = (history: unknown) => {
    try {
      return parseKeyHistory(JSON.parse(JSON.stringify(history)), nativeCrypto) !== undefined;
    } catch (error) {
      if (isProofError(error, "format")) return false;
      throw error;
    }
  };

  it("shows every alteration but of what nobody endorses, which format.md names", () => {
    const silent = three.keys.flatMap((entry, index) =>
      (Object.keys(altered) as (keyof KeyEntry)[])
        .filter((member) => entry[member] !== altered[member])
        .filter((member) => isTaken(withEntry(three, index, { [member]: altered[member] })))
        .map((member) => `${index} ${member}`),
    );
    expect(silent).toEqual(["0 origin", "0 fromRound", "0 revokedRound", "1 revokedRound", "2 revokedRound"]);
  });

  it("shows every order but its own, and every gap but at an end that was mended", () => {
    const { keys } = three;
    const orders = [
      [0, 2, 1],
      [1, 0, 2],
      [1, 2, 0],
      [2, 0, 1],
      [2, 1, 0],
      [0, 1],
      [0, 2],
      [1, 2],
      [0],
      [1],
      [2],
      [0, 1, 2, 2],
      [0, 0, 1, 2],
    ];
    const taken = orders.filter((order) => isTaken({ ...three, keys: order.map((index) => keys[index]) }));
    expect(taken).toEqual([]);
    const { untilRound: _untilRound, ...last } = keys[1] as KeyEntry;
    const { endorsement: _endorsement, ...begun } = keys[1] as KeyEntry;
    expect(isTaken({ ...three, keys: [keys[0], last] })).toBe(true);
    expect(isTaken({ ...three, keys: [begun, keys[2]] })).toBe(true);
  });
});

describe("checkKeyNotes", () => {
  const noteOf = (k: string, round: number, sender = account): RecordedNote => ({
    txid: `TX ${round}`,
    round,
    sender,
    note: encodeNote({ g: three.ledger, k }),
  });
  const entry = (index: number) => three.keys[index] as KeyEntry;
  const notes = [
    noteOf(keyEntryHash(entry(1)), 190),
    noteOf(keyRevocationHash({ ...entry(0), revokedRound: 150 }), 260),
    noteOf(keyEntryHash(entry(2)), 295),
  ];
  const found = (history: KeyHistory, recorded: RecordedNote[]) =>
    checkKeyNotes(history, recorded).map(({ pointer, message }) => `${pointer} ${message}`);

  it("accepts a history whose keys and revocations all stand on the ledger", () => {
    expect(checkKeyNotes(one, [])).toEqual([]);
    expect(checkKeyNotes(three, notes.toReversed())).toEqual([]);
  });

  it("passes over what strangers, and attestations, say", () => {
    const strangers = notes.map((note) => ({ ...note, sender: testAttestor("2").algorandAddress, round: 400 }));
    const other = { ...noteOf("0".repeat(64), 400), note: encodeNote({ g: "algorand:other", k: "0".repeat(64) }) };
    const malformed = { ...noteOf("", 400), note: `${keyNotePrefix(three.ledger)}x"}` };
    expect(checkKeyNotes(three, [...notes, ...strangers, other, malformed])).toEqual([]);
  });

  it("does not count the notes of a thief, who has the seed of a key and not the account", () => {
    const { history, notes: theirs, bundle } = testTakeover();
    expect(() => parseKeyHistory(history, nativeCrypto)).toThrow("is not the first key's account");
    expect(found(history, theirs)).toEqual([
      expect.stringMatching(/^\/keys\/0\/revokedRound .*no note/),
      expect.stringMatching(/^\/keys\/1 .*no note of the key/),
    ]);
    expect(verify(bundle, { trust: testHistory(), crypto: nativeCrypto }).verified).toBe(false);
  });

  it("names a key and a revocation that were never noted", () => {
    expect(found(three, notes.slice(1))).toEqual([expect.stringMatching(/^\/keys\/1 .*no note of the key/)]);
    expect(found(three, notes.toSpliced(1, 1))).toEqual([expect.stringMatching(/^\/keys\/0\/revokedRound .*no note/)]);
  });

  it("names a note whose key or revocation was left out", () => {
    const cut = withEntry(revoked, 0, {});
    expect(found(cut, notes)).toEqual([expect.stringContaining("the note TX 295 in round 295")]);
    delete (cut.keys[0] as KeyEntry).revokedRound;
    expect(found(cut, notes.slice(0, 2))).toEqual([expect.stringContaining("the note TX 260 in round 260")]);
  });

  it("names a key that was noted only after its first round; the earliest of its notes counts", () => {
    const late = [noteOf(keyEntryHash(entry(1)), 200), ...notes.slice(1)];
    expect(found(three, late)).toEqual([expect.stringMatching(/^\/keys\/1\/fromRound .*200/)]);
    expect(found(three, [...notes, ...late])).toEqual([]);
  });
});

describe("a revocation", () => {
  it("is noted by the entry with its round, whoever endorsed it and whatever follows", () => {
    const withdrawn = { ...(two.keys[1] as KeyEntry), revokedRound: 7 };
    const { endorsement: _, ...bare } = withdrawn;
    expect(keyRevocationHash({ ...bare, untilRound: 900 })).toBe(keyRevocationHash(withdrawn));
    expect(keyRevocationHash({ ...withdrawn, revokedRound: 8 })).not.toBe(keyRevocationHash(withdrawn));
    expect(keyRevocationHash(withdrawn)).not.toBe(keyEntryHash(withdrawn));
  });

  it("is found by how key notes begin, as no attestation does", () => {
    const note = encodeNote({ g: one.ledger, k: toHex(utf8("k")) });
    expect(note.startsWith(keyNotePrefix(one.ledger))).toBe(true);
    expect(keyNotePrefix(one.ledger)).toBe(`attestd/v1:j{"g":"${one.ledger}","k":"`);
  });
});

import { checkKeyNotes, parseKeyHistory } from "@attestd/proof";
import { beforeEach, describe, expect, test } from "vitest";
import { testAttestor } from "../../../../test/bundles/bundles.ts";
import { MemoryKeys } from "../../test/fakes/keys.ts";
import { NoteLedger } from "../../test/fakes/note-ledger.ts";
import { seedSigner } from "../../test/seed-signer.ts";
import { nativeCrypto } from "../lib/crypto/crypto.ts";
import { openHistory, readView } from "./history.ts";
import { type KeyChangeOptions, revokeKey, rotateKey } from "./key-records.ts";

const LEDGER = "algorand:wGHE2Pwdvd7S12BL5FaOP20EGYesN73k";
const { algorandAddress } = testAttestor();
const [first, second, third] = [1, 2, 3].map((byte) => seedSigner(new Uint8Array(32).fill(byte))) as [
  ReturnType<typeof seedSigner>,
  ReturnType<typeof seedSigner>,
  ReturnType<typeof seedSigner>,
];
const toSecond = { current: first, next: second, origin: undefined };
const toThird = { current: second, next: third, origin: "https://moved.example" };

let journal: MemoryKeys;
let ledger: NoteLedger;
let options: KeyChangeOptions;
let waits: number[];
let unfinished: number;
beforeEach(begin);
async function begin(): Promise<void> {
  journal = new MemoryKeys();
  ledger = new NoteLedger(LEDGER, algorandAddress);
  waits = [];
  unfinished = 0;
  options = {
    journal,
    ledger,
    unfinished: async () => unfinished,
    onWait: (round) => waits.push(round),
    signal: new AbortController().signal,
  };
  const origin = "https://attestd.example";
  await openHistory({ journal, signer: first, ledger: LEDGER, algorandAddress, origin, round: 10 });
}

/** Returns the history as a verifier reads it and compares it with the ledger. */
async function verified() {
  const { history, announced } = await readView(journal, LEDGER);
  expect(announced).toBeUndefined();
  const taken = parseKeyHistory(JSON.parse(JSON.stringify(history)), nativeCrypto);
  expect(
    checkKeyNotes(
      taken,
      ledger.recorded.map((note) => ({ ...note, sender: algorandAddress })),
    ),
  ).toEqual([]);
  return taken.keys;
}

describe("a rotation", () => {
  test("is endorsed by the old key, noted before the first round of the new one, and current only from there", async () => {
    const { record, txid } = await rotateKey(toSecond, options);
    const [old, now] = await verified();
    expect(record).toMatchObject({ kind: "key", entry: { kid: second.kid } });
    expect(ledger.recorded).toMatchObject([{ txid, round: 101 }]);
    expect(old).toMatchObject({ kid: first.kid, fromRound: 10, untilRound: 111 });
    expect(now).toMatchObject({ kid: second.kid, fromRound: 111, algorandAddress, origin: "https://attestd.example" });
    expect([ledger.round, waits]).toEqual([110, [110]]);
  });

  test("follows another, and a run that repeats one changes nothing", async () => {
    await rotateKey(toSecond, options);
    await rotateKey(toThird, options);
    expect(await rotateKey(toThird, options)).toEqual({ record: { kind: "key", entry: journal.entries[2] } });
    expect((await verified()).map(({ kid }) => kid)).toEqual([first.kid, second.kid, third.kid]);
    expect((await verified())[2]?.origin).toBe("https://moved.example");
    expect(ledger.recorded).toHaveLength(2);
  });

  test("is refused from any key but the current one, and to one that the history has", async () => {
    await expect(rotateKey({ ...toSecond, next: first }, options)).rejects.toThrow("choose a new key");
    await expect(rotateKey(toThird, options)).rejects.toThrow(`${first.kid} is the current one`);
    await rotateKey(toSecond, options);
    await expect(rotateKey({ ...toThird, next: first }, options)).rejects.toThrow("choose a new key");
    await expect(rotateKey({ ...toSecond, next: third }, options)).rejects.toThrow(`${second.kid} is the current one`);
    const foreign = { ...options, ledger: new NoteLedger(LEDGER, testAttestor("other").algorandAddress) };
    await expect(rotateKey(toThird, foreign)).rejects.toThrow("The attestor's account");
    expect(await verified()).toHaveLength(2);
  });

  test("is refused while a replica runs or a call is bound to the key, and writes nothing", async () => {
    journal.otherReplicas = 2;
    await expect(rotateKey(toSecond, options)).rejects.toMatchObject({
      code: "journal_in_use",
      message: "2 other replicas have this journal open.",
    });
    journal.otherReplicas = 0;
    unfinished = 1;
    await expect(rotateKey(toSecond, options)).rejects.toMatchObject({
      code: "calls_unfinished",
      message: expect.stringContaining("1 paid call is attested with the current key"),
    });
    expect([await verified(), ledger.recorded, await journal.announced()]).toMatchObject([[{}], [], undefined]);
  });

  test("takes its announcement back when a replica has begun meanwhile", async () => {
    journal.announce = async (announcement) => {
      journal.otherReplicas = 1;
      return MemoryKeys.prototype.announce.call(journal, announcement);
    };
    await expect(rotateKey(toSecond, options)).rejects.toMatchObject({ code: "journal_in_use" });
    expect(await verified()).toHaveLength(1);
    expect(ledger.recorded).toEqual([]);
  });

  test("is noted again with a later round when the ledger did not take the first note in time", async () => {
    ledger.fullRounds = 25;
    await rotateKey(toSecond, options);
    const [, now] = await verified();
    expect(ledger.recorded).toHaveLength(1);
    expect(now?.fromRound).toBeGreaterThan(125);
  });

  test("stays announced when the account cannot pay, and is finished once it can", async () => {
    ledger.refusal = { status: "unfunded", reason: "overspend" };
    await expect(rotateKey(toSecond, options)).rejects.toMatchObject({ code: "attestor_unfunded" });
    ledger.refusal = undefined;
    await rotateKey(toSecond, options);
    expect(await verified()).toHaveLength(2);
  });

  test("that is under way is finished also when the settings have the new seed already", async () => {
    ledger.refusal = { status: "unfunded", reason: "overspend" };
    await rotateKey(toSecond, options).catch(() => undefined);
    ledger.refusal = undefined;
    const settled = { ...toSecond, current: second };
    await rotateKey(settled, options);
    expect(await rotateKey(settled, options)).toEqual({ record: { kind: "key", entry: journal.entries[1] } });
    expect(await verified()).toHaveLength(2);
  });

  test("that is under way is not given to another key, unless its note can never be recorded", async () => {
    ledger.refusal = { status: "unfunded", reason: "overspend" };
    await rotateKey(toSecond, options).catch(() => undefined);
    ledger.refusal = undefined;
    const other = { ...toSecond, next: third };
    await expect(rotateKey(other, options)).rejects.toThrow(`A rotation to the key ${second.kid} has not finished`);
    await expect(revokeKey(first.kid, undefined, options)).rejects.toThrow("has not finished");
    ledger.round += 20;
    await rotateKey(other, options);
    expect((await verified()).map(({ kid }) => kid)).toEqual([first.kid, third.kid]);
  });
});

describe("a revocation", () => {
  test("of a retired key goes on beside replicas, and may name an earlier round", async () => {
    await rotateKey(toSecond, options);
    journal.otherReplicas = 3;
    await revokeKey(first.kid, 60, options);
    expect(await verified()).toMatchObject([{ kid: first.kid, revokedRound: 60 }, { kid: second.kid }]);
    await revokeKey(first.kid, undefined, options);
    await expect(revokeKey(first.kid, 61, options)).rejects.toThrow("revoked from round 60 on, for good");
    expect(ledger.recorded).toHaveLength(2);
  });

  test("of the current key counts from the next round, needs the journal alone, and leaves a rotation open", async () => {
    journal.otherReplicas = 1;
    await expect(revokeKey(first.kid, undefined, options)).rejects.toMatchObject({ code: "journal_in_use" });
    journal.otherReplicas = 0;
    await revokeKey(first.kid, undefined, options);
    expect(await verified()).toMatchObject([{ revokedRound: 101 }]);
    const opening = { journal, ledger: LEDGER, algorandAddress, origin: "https://attestd.example", round: 200 };
    await expect(openHistory({ ...opening, signer: first })).rejects.toThrow("is revoked from round 101 on");
    await rotateKey(toSecond, options);
    expect((await openHistory({ ...opening, signer: second })).history.keys).toEqual(await verified());
  });

  test("is refused for a stranger's key, and for a round that the key does not know", async () => {
    await expect(revokeKey("stranger", undefined, options)).rejects.toThrow("has no key stranger");
    await expect(revokeKey(first.kid, 9, options)).rejects.toThrow(
      "from any round between its first, 10, and the next one, 101",
    );
    await expect(revokeKey(first.kid, 102, options)).rejects.toThrow("and the next one, 101");
  });
});

describe("a change that is killed", () => {
  class Killed extends Error {}

  /** Returns options whose process ends at its n-th step: before it is done, or just after. */
  function mortal(step: number, when: "before" | "after"): KeyChangeOptions {
    let taken = 0;
    let dead = false;
    const lived = async <T>(work: () => T | Promise<T>): Promise<T> => {
      taken += 1;
      const last = taken === step;
      if (dead || (last && when === "before")) throw die();
      const result = await work();
      if (last) throw die();
      return result;
    };
    const die = () => {
      dead = true;
      return new Killed();
    };
    const through = <T extends object>(target: T): T =>
      new Proxy(target, {
        get(_, name) {
          const member = Reflect.get(target, name, target);
          if (name === "rounds") return through(member as object);
          if (typeof member !== "function" || name === "latest") return member;
          return (...args: unknown[]) => lived(() => member.apply(target, args));
        },
      });
    return { ...options, journal: through(journal), ledger: through(ledger) };
  }

  const rotation = (with_: KeyChangeOptions) => rotateKey(toSecond, with_);
  const revocation = (with_: KeyChangeOptions) => revokeKey(first.kid, 50, with_);

  test.each([
    ["a rotation", "before", rotation, 15],
    ["a rotation", "after", rotation, 15],
    ["a revocation", "before", revocation, 8],
    ["a revocation", "after", revocation, 8],
  ] as const)("%s killed %s any step, and at any step again, is finished and never noted twice", async (...given) => {
    const [, when, change, steps] = given;
    let killed = 0;
    for (let step = 1; step === killed + 1; step += 1) {
      for (let again = 1, goesOn = true; goesOn; again += 1) {
        await begin();
        const one = await change(mortal(step, when)).catch((cause: unknown) => cause);
        if (one instanceof Killed) killed = step;
        const two = await change(mortal(again, when)).catch((cause: unknown) => cause);
        goesOn = two instanceof Killed;
        // At every moment the journal has a valid history, and every key in it is known to the ledger.
        const { history } = await readView(journal, LEDGER);
        const { keys } = parseKeyHistory(JSON.parse(JSON.stringify(history)), nativeCrypto);
        expect(keys.length - 1).toBeLessThanOrEqual(ledger.recorded.length);
        await change(options);
        expect(ledger.recorded).toHaveLength(1);
        await verified();
      }
    }
    expect(killed).toBeGreaterThanOrEqual(steps);
  });
});

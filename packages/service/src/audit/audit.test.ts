import type { KeyEntry } from "@attestd/proof";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  ATTESTOR,
  AuditWorld,
  attemptOf,
  noteFor,
  PRICE,
  payeeOf,
  premises,
  STATES,
} from "../../test/fakes/audit-world.ts";
import type { SealedItem } from "../attestor/attestor.ts";
import type { Call, CallState, KeptBundle } from "../calls/call.ts";
import { ServiceError } from "../lib/errors.ts";
import type { RailName } from "../payment/rails/rail.ts";
import { audit } from "./audit.ts";
import { bundleTexts, isBundleOf } from "./own-bundle.ts";
import type { AuditReport, Code, Severity } from "./report.ts";

const RAILS: readonly RailName[] = ["algorand", "base", "solana"];
type Purchase = { state: CallState; rail: RailName; size: number; unseen: boolean };
const purchase: fc.Arbitrary<Purchase> = fc.record({
  state: fc.constantFrom(...STATES),
  rail: fc.constantFrom(...RAILS),
  size: fc.constantFrom(1, 1, 3),
  unseen: fc.boolean(),
});

async function worldOf(purchases: readonly Purchase[]): Promise<AuditWorld> {
  const world = new AuditWorld();
  for (const { state, rail, size, unseen } of purchases) {
    const call = await world.buy(state, rail, size);
    // Something that has happened and is not committed yet, as after a crash.
    if (unseen && state === "settling") world.pay(call);
    if (unseen && state === "signed") world.record(call, call.attempts[0]?.txid ?? "", 500);
  }
  return world;
}

function judge(world: AuditWorld, over: Partial<typeof premises> = {}): Promise<AuditReport> {
  return audit(world.facts, world.rows, { ...premises, ...over });
}

function codesOf({ findings }: AuditReport, severity: Severity): Code[] {
  return findings.filter((finding) => finding.severity === severity).map(({ code }) => code);
}

describe("consistent worlds", () => {
  test("break nothing, are counted, and are clean unless something is owed; neither pruning nor strangers change it", async () => {
    const noises = fc.array(fc.nat(), { maxLength: 10 });
    await fc.assert(
      fc.asyncProperty(fc.array(purchase, { maxLength: 10 }), noises, async (purchases, noise) => {
        const world = await worldOf(purchases);
        const report = await judge(world);
        const of = (...states: CallState[]) => purchases.filter(({ state }) => states.includes(state)).length;
        expect(report.verdict).toBe(of("owed") > 0 ? "open" : "clean");
        expect(report.counts).toMatchObject({
          calls: purchases.length,
          delivered: of("done", "loss"),
          settled:
            of("paid", "signed", "confirmed", "done", "owed", "refunded") +
            purchases.filter(({ state, unseen }) => state === "settling" && unseen).length,
          attested: world.notes.length,
          owed: of("owed"),
          void: of("void"),
          refunded: of("refunded"),
          loss: of("loss"),
          unaccounted: 0,
          notRead: 0,
          strangers: 0,
        });
        expect(codesOf(report, "information")).toEqual(Array(of("loss")).fill("payment_lost"));

        world.prune();
        expect(await judge(world)).toEqual(report);

        for (const kind of noise) world.noise(kind);
        const noisy = await judge(world);
        expect(noisy.verdict).toBe(report.verdict);
        expect(noisy.invariants).toEqual(report.invariants);
        expect({ ...noisy.counts, strangers: 0 }).toEqual(report.counts);
        for (const severity of ["violation", "open"] as const)
          expect(codesOf(noisy, severity)).toEqual(codesOf(report, severity));
      }),
      { numRuns: 60 },
    );
  });

  test("are clean whatever part of the chains was read", async () => {
    const world = await worldOf(
      RAILS.flatMap((rail) => STATES.map((state) => ({ state, rail, size: 1, unseen: false }))),
    );
    const part = { from: 105, to: 115 };
    const within = (height: number) => part.from <= height && height <= part.to;
    const facts = {
      ledger: part,
      rails: { algorand: part, base: part },
      payments: world.payments.filter(({ rail, height }) => rail !== "solana" && within(height)),
      notes: world.notes.filter(({ round }) => within(round)),
    };
    const report = await audit(facts, world.rows, premises);
    expect(codesOf(report, "violation")).toEqual([]);
    expect(report.counts.notRead).toBeGreaterThan(0);
  });
});

type Plant = (world: AuditWorld, call: Call) => unknown;
/** A defect that is planted into a delivered call, and the findings it must cause: nothing else may be violated. */
const PLANTED: Record<string, { plant: Plant; finds: Code[] }> = {
  "a row that was lost after it was delivered": {
    plant: (world, { key }) => (world.rows = world.rows.filter((row) => row.key !== key)),
    finds: ["payment_without_row"],
  },
  "an attestation by hand": {
    plant: (world, call) => world.record(call, "BY-HAND", 600, { note: noteFor("nobody's payment") }),
    finds: ["note_commitment_unknown"],
  },
  "a second attestation": {
    plant: (world, call) => world.record(call, "SECOND", 600),
    finds: ["two_attestations_for_one_payment", "attestation_unknown_to_row"],
  },
  "an attestation of a row that never was paid": {
    plant: (world, { key }) => world.forge(key, { state: "settling", bundle: undefined } as never),
    finds: ["attested_without_payment"],
  },
  "an attempt that was called dead": {
    plant: (world, { key, attempts }) =>
      world.forge(key, { attempts: attempts.map((one) => ({ ...one, dead: true })) }),
    finds: ["dead_attempt_on_ledger", "delivered_bundle_not_on_ledger", "bundle_of_another_call"],
  },
  "two attempts alive": {
    plant: (world, { key, attempts }) =>
      world.forge(key, { attempts: [{ ...attemptOf("FIRST"), dead: false }, ...attempts] }),
    finds: ["two_live_attempts"],
  },
  "a refund of what was attested": {
    plant: (world, { key }) => world.forge(key, { state: "refunded", bundle: undefined } as never),
    finds: ["attested_though_refunded"],
  },
  "a payment that is not there": {
    plant: (world, { key }) => (world.payments = world.payments.filter((payment) => payment.key !== key)),
    finds: ["row_paid_but_chain_disagrees"],
  },
  "a payment of less": {
    plant: (world, { key }) =>
      (world.payments = world.payments.map((one) => (one.key === key ? { ...one, amount: 1n } : one))),
    finds: ["row_paid_but_chain_disagrees"],
  },
  "a payment to another": {
    plant: (world, { key }) =>
      (world.payments = world.payments.map((one) => (one.key === key ? { ...one, payTo: "OLD" } : one))),
    finds: ["row_paid_but_chain_disagrees"],
  },
  "a paid call called void": {
    plant: (world, { key }) => {
      world.forge(key, { state: "void", proof: undefined, bundle: undefined, attempts: [] } as never);
      world.notes = [];
    },
    finds: ["row_unpaid_but_chain_disagrees"],
  },
  "two rows of one payment": {
    plant: (world, call) =>
      world.rows.push({ ...call, key: `${call.key}/again`, aliases: [call.key], state: "settling" }),
    finds: ["two_rows_one_key", "bundle_before_done"],
  },
  "a bundle whose attestation is not on the ledger": {
    plant: (world) => (world.notes = []),
    finds: ["delivered_bundle_not_on_ledger"],
  },
  "a bundle whose attestation is in another round than row and ledger": {
    plant: (world, { key, round = 0 }) => {
      world.forge(key, { round: round + 1 });
      world.notes = world.notes.map((note) => ({ ...note, round: note.round + 1 }));
    },
    finds: ["bundle_of_another_call"],
  },
  "a bundle whose attestation is in another round": {
    plant: (world) => (world.notes = world.notes.map((note) => ({ ...note, round: note.round + 1 }))),
    finds: ["delivered_bundle_not_on_ledger"],
  },
  "a confirmed call whose attestation is not on the ledger": {
    plant: (world, { key }) => {
      world.forge(key, { state: "confirmed", bundle: undefined } as never);
      world.notes = [];
    },
    finds: ["confirmed_attestation_not_on_ledger"],
  },
  "a lost bundle": {
    plant: (world, { key }) => world.forge(key, { bundle: undefined } as never),
    finds: ["bundle_missing"],
  },
  "a bundle with one byte changed": {
    plant: (world, { key, bundle }) =>
      world.forge(key, {
        bundle: { id: bundle?.id ?? "", body: (bundle?.body ?? "").replace('"round":1', '"round":2') },
      }),
    finds: ["bundle_bytes_do_not_verify"],
  },
  "a bundle cut off": {
    plant: (world, { key, bundle }) =>
      world.forge(key, { bundle: { id: bundle?.id ?? "", body: bundle?.body?.slice(0, 99) ?? "" } }),
    finds: ["bundle_bytes_do_not_verify"],
  },
  "the bundle of another call": {
    plant: async (world, { key, subject }) => {
      const other = await world.buy("done", "algorand", subject.kind === "batch" ? subject.items.length : 1);
      world.forge(key, { bundle: other.bundle as KeptBundle });
    },
    finds: ["note_of_another_request", "bundle_of_another_call"],
  },
  "a bundle under another's name": {
    plant: (world, { key, bundle }) => world.forge(key, { bundle: { ...bundle, id: "S" } }),
    finds: ["bundle_of_another_call"],
  },
  "a bundle too early": {
    plant: (world, { key }) => world.forge(key, { state: "confirmed" }),
    finds: ["bundle_before_done"],
  },
  "a note of something that was not bought": {
    plant: (world, { key }) => (world.notes = world.notes.map((note) => ({ ...note, note: noteFor(key) }))),
    finds: ["note_of_another_request"],
  },
  "an attestation that moves value": {
    plant: (world) => (world.notes = world.notes.map((note) => ({ ...note, movesNothing: false }))),
    finds: ["attestation_moves_value"],
  },
  "a note of no form": {
    plant: (world, call) => world.record(call, "BY-HAND", 600, { note: "attestd/v1:j{" }),
    finds: ["note_malformed"],
  },
};

const changed = (bundle: Call["bundle"], change: (items: readonly SealedItem[]) => readonly SealedItem[]) => {
  if (!bundle?.items) throw new Error("a batch was bought");
  return { ...bundle, items: change(bundle.items) };
};

describe("an inconsistency", () => {
  test.each(Object.entries(PLANTED))("is found and named among others: %s", async (_, { plant, finds }) => {
    await fc.assert(
      fc.asyncProperty(
        purchase,
        fc.boolean(),
        fc.array(fc.nat(), { maxLength: 4 }),
        async (bought, isPruned, noise) => {
          const world = new AuditWorld();
          const { key } = await world.buy("done", bought.rail, bought.size);
          if (isPruned) world.prune();
          await plant(world, world.row(key));
          for (const kind of noise) world.noise(kind);
          const report = await judge(world);
          expect(report.verdict).toBe("violated");
          expect(codesOf(report, "violation").toSorted()).toEqual(finds.toSorted());
        },
      ),
      { numRuns: 8 },
    );
  });

  test.each<[string, number, (call: Call) => Partial<Call>]>([
    ["is of another subject", 1, () => ({ subjectHash: "another" })],
    [
      "has the items of a batch in another order",
      3,
      ({ bundle }) => ({ bundle: changed(bundle, ([one, two, ...more]) => [two, one, ...more] as SealedItem[]) }),
    ],
    ["lacks an item", 3, ({ bundle }) => ({ bundle: changed(bundle, (items) => items.slice(0, -1)) })],
    [
      "has an item that does not verify",
      3,
      ({ bundle }) => ({
        bundle: changed(bundle, (items) =>
          items.map(({ id, text }) => ({ id, text: text.replace(/"index":2/, '"index":1') })),
        ),
      }),
    ],
  ])("is found of a call whose bundle %s", async (_, size, over) => {
    const world = new AuditWorld();
    await world.buy("done", "base", size);
    const [call] = world.rows;
    world.forge(call?.key ?? "", over(call as Call));
    expect(codesOf(await judge(world), "violation")).toEqual(["bundle_of_another_call"]);
  });

  test("of a call whose bundle names another payment is found", async () => {
    const call = await new AuditWorld().buy("done");
    const texts = () => bundleTexts(call.bundle as KeptBundle, premises.apart);
    expect(await isBundleOf(call, texts(), () => true)).toBe(true);
    expect(await isBundleOf({ ...call, key: "algorand:test/another" }, texts(), () => true)).toBe(false);
  });

  test("of a key that is in no history is found", async () => {
    const world = new AuditWorld();
    await world.buy("done");
    const history = { ...premises.history, keys: [] };
    const codes = codesOf(await judge(world, { history }), "violation");
    expect(codes).toContain("note_of_another_key");
    expect(codes).toContain("bundle_bytes_do_not_verify");
  });

  test("of an old key's bundle in a round of the key after it is found", async () => {
    const world = new AuditWorld();
    const { round } = await world.buy("done");
    const [first] = premises.history.keys;
    const until = (untilRound: number) => ({
      ...premises.history,
      keys: [
        { ...(first as KeyEntry), untilRound },
        { ...(first as KeyEntry), kid: "second", keySha256: "second", pqPublicKey: "second", fromRound: untilRound },
      ],
    });
    expect((await judge(world, { history: until((round ?? 0) + 1) })).verdict).toBe("clean");
    const late = codesOf(await judge(world, { history: until(round ?? 0) }), "violation");
    expect(late).toEqual(["note_of_another_key", "bundle_bytes_do_not_verify"]);
  });

  test("of a revoked key's bundle is judged by the ledger: before the revocation it stands, after it or unread it does not", async () => {
    const world = new AuditWorld();
    const { round = 0 } = await world.buy("done");
    const revoked = (revokedRound: number) => ({
      ...premises.history,
      keys: premises.history.keys.map((entry) => ({ ...entry, revokedRound })),
    });
    expect(await judge(world, { history: revoked(round + 1) })).toMatchObject({
      verdict: "clean",
      counts: { delivered: 1 },
    });
    const after = await judge(world, { history: revoked(round) });
    expect(codesOf(after, "violation")).toEqual(["bundle_bytes_do_not_verify"]);

    // The ledger was read, and does not have it.
    world.notes = [];
    expect(codesOf(await judge(world, { history: revoked(round + 1) }), "violation")).toEqual([
      "delivered_bundle_not_on_ledger",
      "bundle_bytes_do_not_verify",
    ]);
    // Its round was not read.
    const unread = { ...world.facts, ledger: { from: round + 1, to: round + 100 } };
    expect(await audit(unread, world.rows, { ...premises, history: revoked(round + 1) })).toMatchObject({
      verdict: "clean",
      counts: { delivered: 0, notRead: 1 },
    });
  });

  test("reports which invariants are broken", async () => {
    const world = new AuditWorld();
    const { key } = await world.buy("done");
    world.forge(key, { bundle: undefined } as never);
    expect((await judge(world)).invariants).toEqual({ 1: true, 2: false, 3: true, 4: true, 5: true, 6: true });
  });
});

describe("what is open", () => {
  test("is a payment in the form that we sell for, which may also be a stranger's", async () => {
    const world = new AuditWorld();
    const call = await world.buy("paid");
    world.rows = [];
    const report = await judge(world);
    expect(report).toMatchObject({ verdict: "open", counts: { unaccounted: 1, settled: 0 } });
    expect(report.findings).toMatchObject([{ severity: "open", code: "payment_without_row", key: call.key }]);
  });

  test("is none of a row that is damaged, which is named by itself and hides no other", async () => {
    const world = new AuditWorld();
    const [damaged, apart, whole] = [
      await world.buy("done"),
      await world.buy("done", "base", 3),
      await world.buy("done"),
    ];
    const bundle = { id: apart.bundle?.id ?? "", apart: { parts: 2, bytes: 9 } };
    const rows = [{ key: damaged.key, fault: "the row cannot be read: x" }, { ...apart, bundle }, whole];
    const partsOf = async (bundleId: string) => {
      throw new ServiceError("journal_damaged", `a part of the bundle ${bundleId} cannot be read: y`);
    };
    const report = await audit(world.facts, rows, { ...premises, apart: { ...premises.apart, partsOf } });
    expect(report).toMatchObject({ verdict: "violated", counts: { calls: 3, delivered: 1, unaccounted: 0 } });
    expect(report.findings).toEqual([
      {
        severity: "violation",
        code: "row_unreadable",
        key: damaged.key,
        message: "The row cannot be read: x. Take it from a backup.",
      },
      {
        severity: "violation",
        code: "row_unreadable",
        key: apart.key,
        message: expect.stringMatching(/^A part of the bundle .* cannot be read: y\. Take/),
      },
    ]);
  });

  test("is a payment that a facilitator refused before it was made, whatever the price is now", async () => {
    const world = new AuditWorld();
    const { key, payer } = await world.buy("paid");
    world.rows = [];
    const refused = async (asked: string) => (asked === key ? { key, payer, subjectHash: "" } : undefined);
    const report = await judge(world, { refused, prices: [PRICE * 2n] });
    expect(report).toMatchObject({ verdict: "open", counts: { unaccounted: 1, strangers: 0 } });
    const message = expect.stringContaining(
      "after a facilitator had refused the payment: owed to whoever sends it again",
    );
    expect(report.findings).toMatchObject([{ severity: "open", code: "payment_without_row", key, message }]);
  });

  test("is also one of an earlier price that the rows remember", async () => {
    const world = new AuditWorld();
    const { key } = await world.buy("paid");
    await world.buy("settling");
    world.rows = world.rows.filter((row) => row.key !== key);
    expect((await judge(world, { prices: [PRICE * 2n] })).counts.unaccounted).toBe(1);
  });

  test("is a delivered payment that has gone before it was final", async () => {
    const world = new AuditWorld();
    const { key, proof } = await world.buy("done");
    world.forge(key, { proof: { transaction: "T", height: proof?.height ?? 0, final: false } });
    expect(codesOf(await judge(world), "information")).toEqual(["payment_in_another_transaction"]);
    world.payments = [];
    expect(await judge(world)).toMatchObject({ verdict: "open", findings: [{ code: "payment_vanished", key }] });
  });

  test("is a call that does not come to its end, and one that is owed, at once", async () => {
    const world = new AuditWorld();
    await world.buy("signed");
    expect((await judge(world)).verdict).toBe("clean");
    expect(codesOf(await judge(world, { now: 20 * 60_000 }), "open")).toEqual(["call_unfinished"]);
    await world.buy("owed");
    expect(codesOf(await judge(world), "open")).toEqual(["call_owed"]);
  });
});

describe("a row of before its attestation", () => {
  const behind = async (over: Partial<Call>) => {
    const world = new AuditWorld();
    const { key, createdAt } = await world.buy("done");
    world.forge(key, { bundle: undefined, round: undefined, attempts: [], ...over } as never);
    return { world, key, copiedUntil: createdAt };
  };

  test.each(["settling", "paid"] as const)("is open, and not violated, after a restore: %s", async (state) => {
    const { world, key, copiedUntil } = await behind({ state });
    expect(await judge(world, { copiedUntil })).toMatchObject({
      verdict: "open",
      findings: [{ code: "attestation_unknown_to_row", key }],
    });
    expect((await judge(world, { copiedUntil: copiedUntil - 1 })).verdict).toBe("violated");
    expect((await judge(world)).verdict).toBe("violated");
  });

  test("is violated where nothing pays for the attestation, or the call is at its end", async () => {
    const { world, copiedUntil } = await behind({ state: "settling" });
    world.payments = [];
    expect((await judge(world, { copiedUntil })).verdict).toBe("violated");
    const refunded = await behind({ state: "refunded" });
    expect(codesOf(await judge(refunded.world, { copiedUntil }), "violation")).toEqual(["attested_though_refunded"]);
  });
});

test("what the lists lack is looked for by itself before it is missed", async () => {
  const world = new AuditWorld();
  const { key, proof, attempts } = await world.buy("done");
  const { payments, notes } = world;
  const asked: string[] = [];
  const lookAgain = {
    payments: async (...question: string[]) => {
      asked.push(question.join(" "));
      return payments;
    },
    note: async (txid: string) => {
      asked.push(txid);
      return notes[0];
    },
  };
  const facts = { ...world.facts, payments: [], notes: [], lookAgain };
  const counts = { settled: 1, attested: 1, delivered: 1 };
  expect(await audit(facts, world.rows, premises)).toMatchObject({ verdict: "clean", counts });
  expect(asked).toEqual([`algorand ${proof?.transaction} ${payeeOf("algorand")}`, attempts[0]?.txid]);

  asked.length = 0;
  await audit({ ...world.facts, lookAgain }, world.rows, premises);
  expect(asked).toEqual([]);
  const nothing = { payments: async () => [], note: async () => undefined };
  const report = await audit({ ...facts, lookAgain: nothing }, world.rows, premises);
  expect(report.findings.map(({ code, key }) => [code, key])).toEqual([
    ["row_paid_but_chain_disagrees", key],
    ["delivered_bundle_not_on_ledger", key],
  ]);
});

test("strangers fill no report", async () => {
  const world = new AuditWorld();
  for (let i = 0; i < 1_000; i++) world.noise(0);
  const report = await judge(world);
  expect(report).toMatchObject({ verdict: "clean", unlisted: 900, counts: { strangers: 1_000, attested: 0 } });
  expect(report.findings).toHaveLength(100);
  expect(report.findings.every(({ message }) => !message.includes(ATTESTOR))).toBe(true);
});

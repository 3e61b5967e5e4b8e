import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { serviceError } from "../../test/errors.ts";
import { aCall, after, anAttempt, GOOD_COURSE } from "../../test/fakes/calls.ts";
import type { Call } from "./call.ts";
import { type CallEvent, isAtRest, isFinal, nextEffect, reduce } from "./machine.ts";

describe("a call", () => {
  test("goes from its settlement to done in two further commits, and has a next effect in every state", () => {
    const effects: string[] = [];
    const end = GOOD_COURSE.reduce((call, event) => {
      effects.push(`${call.state}: ${nextEffect(call).do}`);
      return reduce(call, event);
    }, aCall());
    expect(effects).toEqual(["settling: reconcile", "paid: sign", "signed: submit", "confirmed: seal"]);
    expect(end).toMatchObject({ state: "done", version: 3, round: 12, bundle: { id: "S", body: "{}" } });
    expect(end.receipt).toBe("signed receipt");
    expect(nextEffect(end)).toEqual({ do: "nothing" });
  });

  test("settles at once only what its own loop knows to be unsent; any other settlement may have left the process", () => {
    expect([nextEffect(aCall(), true).do, nextEffect(aCall()).do]).toEqual(["settle", "reconcile"]);
  });

  test("names the facilitator of its first settlement when it is first committed", () => {
    expect(aCall({ facilitator: "https://a.example" })).toMatchObject({
      state: "settling",
      settlements: 1,
      version: 1,
    });
    expect(aCall()).toMatchObject({ state: "settling", settlements: 0 });
  });

  test("signs a second attestation only after the first is proved dead", () => {
    const signed = after(aCall(), ...GOOD_COURSE.slice(0, 2));
    const another: CallEvent = { type: "attestation_signed", attempt: anAttempt("SECOND") };
    expect(() => reduce(signed, another)).toThrow(serviceError("transition_illegal"));
    const owed = reduce(signed, { type: "attestation_blocked", reason: "overspend" });
    expect(() => reduce(owed, another)).toThrow(serviceError("transition_illegal"));
    expect(nextEffect(owed)).toMatchObject({ do: "submit", attempt: { txid: "ATTEST" } });

    const dead = reduce(owed, { type: "attestation_dead", txid: "ATTEST" });
    expect(nextEffect(dead)).toEqual({ do: "sign" });
    expect(reduce(dead, another).attempts.map(({ txid, dead }) => [txid, dead])).toEqual([
      ["ATTEST", true],
      ["SECOND", false],
    ]);
  });

  test("watches a delivered payment until it is final, and books one that is lost for ever", () => {
    const [proved, ...rest] = GOOD_COURSE as [CallEvent & { type: "payment_proved" }, ...CallEvent[]];
    const fresh = { ...proved, proof: { ...proved.proof, final: false } };
    const done = after(aCall(), fresh, ...rest);
    expect([done.state, isFinal(done.state), isAtRest(done), nextEffect(done).do]).toEqual([
      "done",
      true,
      false,
      "watch",
    ]);

    const seen = reduce(done, { type: "payment_seen_again", proof: { ...proved.proof, height: 10, final: true } });
    expect(seen).toMatchObject({ state: "done", proof: { height: 10 }, bundle: done.bundle });
    expect([isAtRest(seen), nextEffect(seen).do]).toEqual([true, "nothing"]);

    const lost = reduce(done, { type: "payment_lost", reason: "expired unspent" });
    expect(lost).toMatchObject({ state: "loss", reason: "expired unspent", bundle: done.bundle });
    expect(isAtRest(lost)).toBe(true);
    expect(() => reduce(seen, { type: "payment_lost", reason: "final" })).toThrow(serviceError("transition_illegal"));
  });

  test("keeps every promise in any order of events", () => {
    const events = fc.constantFrom<CallEvent>(
      ...GOOD_COURSE,
      { type: "settlement_begun" },
      { type: "payment_void", reason: "expired", receipt: "failed" },
      { type: "attestation_dead", txid: "ATTEST" },
      { type: "attestation_blocked", reason: "unfunded" },
      { type: "attestation_signed", attempt: anAttempt("SECOND") },
      { type: "attestation_confirmed", txid: "SECOND", round: 200 },
      { type: "payment_proved", proof: { transaction: "PAYMENT", height: 9, final: false }, receipt: "receipt" },
      { type: "payment_seen_again", proof: { transaction: "PAYMENT", height: 9, final: true } },
      { type: "payment_lost", reason: "expired" },
    );
    fc.assert(
      fc.property(fc.array(events, { maxLength: 40 }), (sequence) => {
        let call: Call = aCall();
        for (const event of sequence) {
          const next = attempt(call, event);
          if (!next) continue;
          expect(isAtRest(call)).toBe(false);
          expect(next.version).toBe(
            call.version + Number(!["paid", "confirmed"].includes(next.state) || event.type === "attestation_dead"),
          );
          if (call.proof && call.state !== "done") expect(next.proof).toEqual(call.proof);
          if (call.proof) expect(["void", "settling"]).not.toContain(next.state);
          if (call.bundle) expect([next.bundle, next.receipt]).toEqual([call.bundle, call.receipt]);
          if (next.bundle)
            expect(next).toMatchObject({
              state: expect.stringMatching(/^(done|loss)$/),
              proof: {},
              round: expect.any(Number),
            });
          expect(next.attempts.filter(({ dead }) => !dead).length).toBeLessThanOrEqual(1);
          call = next;
        }
      }),
    );
  });
});

function attempt(call: Call, event: CallEvent): Call | undefined {
  try {
    return reduce(call, event);
  } catch (error) {
    expect(error).toEqual(serviceError("transition_illegal"));
    return undefined;
  }
}

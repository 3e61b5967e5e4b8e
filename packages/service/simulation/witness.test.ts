import { describe, expect, test } from "vitest";
import { aCall } from "../test/fakes/calls.ts";
import type { Authorization } from "./payments.ts";
import { Witness } from "./witness.ts";

const HEALED_AT = 10_000;
const SENT_AT = 9_000;

/** Lets a payment of some life become void. @returns the invariant that this breaks */
function givenUp(validUntil: number, settle: (witness: Witness, authorization: Authorization, at: At) => void) {
  let now = 0;
  const authorization: Authorization = {
    key: "base/0",
    rail: "base",
    account: { name: "payer1", balance: 1_000n },
    payTo: "PAYEE",
    amount: 1_000n,
    validFrom: 0,
    validUntil,
  };
  const witness = new Witness({
    now: () => now,
    step: () => 0,
    healedAt: () => HEALED_AT,
    count: () => undefined,
    isNamed: () => true,
  });
  witness.signed(authorization);
  settle(witness, authorization, (time, then) => {
    now = time;
    return then();
  });
  now = validUntil;
  witness.committed({ ...aCall({ key: "base/0", rail: "base" }), state: "void" });
  return witness.violation?.invariant;
}
type At = <T>(time: number, then: () => T) => T;

/** A request that is sent before the healing and never arrives; its process waits for it until `end`, or for ever. */
function lost({ end, alive = true }: { end?: number; alive?: boolean }) {
  return (witness: Witness, authorization: Authorization, at: At) => {
    const life = { name: "a0", alive, paused: false };
    const ended = at(SENT_AT, () => witness.settlementSent(authorization, life));
    if (end !== undefined) at(end, ended);
  };
}

describe("the witness, of a payment that is void and whose settlement has not arrived since the healing", () => {
  test.each([
    ["nobody asked for it", 180_000, () => undefined],
    ["the process that asked has died", 180_000, lost({ alive: false })],
    ["there was a minute left after the request had failed", 180_000, lost({ end: 110_000 })],
    ["there was a minute left after the deadline of the request", 200_000, lost({})],
  ])("objects when %s", (_, validUntil, settle) => {
    expect(givenUp(validUntil, settle)).toBe("settledAgain");
  });

  test.each([
    ["the request was under way until its last minute", 180_000, lost({ end: 125_000 })],
    ["the request is under way, within its deadline", 120_000, lost({})],
  ])("does not object when %s", (_, validUntil, settle) => {
    expect(givenUp(validUntil, settle)).toBeUndefined();
  });
});

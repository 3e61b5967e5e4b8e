import { describe, expect, test } from "vitest";
import { aCall } from "../../test/fakes/calls.ts";
import type { Facilitator } from "../payment/facilitator.ts";
import type { Settler } from "../payment/routes.ts";
import { nextSettler } from "./settlers.ts";

const settler = (id: string, unavailableReason?: string, isBusy = false): Settler => ({
  id,
  facilitator: {} as Facilitator,
  unavailableReason: () => unavailableReason,
  isBusy: () => isBusy,
});
const [A, B, C] = ["A", "B", "C"].map((id) => settler(id)) as [Settler, Settler, Settler];
const away = (id: string) => settler(id, "away");
const busy = (id: string) => settler(id, undefined, true);

/** Whom a call asks whose row names `facilitator`. */
function next(
  facilitator: string | undefined,
  settlers: Settler[],
  over: { any?: boolean; failed?: boolean; feePayer?: string } = {},
) {
  const { any = true, failed = false, feePayer } = over;
  const call = aCall(facilitator === undefined ? {} : { facilitator });
  const requirement = { ...call.requirement, extra: feePayer === undefined ? {} : { feePayer } };
  return nextSettler({ ...call, requirement }, { isForAnyFacilitator: any }, settlers, failed)?.id;
}

describe("a payment that any facilitator may settle", () => {
  test.each<[string, string | undefined, Settler[], boolean, string | undefined]>([
    ["is settled by the row's", "B", [A, B, C], false, "B"],
    ["goes on to the next one after a failure", "A", [A, B, C], true, "B"],
    ["goes round", "C", [A, B, C], true, "A"],
    ["leaves one that is away", "A", [away("A"), B], false, "B"],
    ["passes over one that is away", "A", [A, away("B"), C], true, "C"],
    ["passes over one that is busy, while another is not", "A", [A, busy("B"), C], true, "C"],
    ["goes to a busy one rather than to the one that failed", "A", [A, busy("B")], true, "B"],
    ["stays where no other can sell", "A", [A, away("B")], true, "A"],
    ["stays with the row's while all are away", "B", [away("A"), away("B")], false, "B"],
    ["goes to the first where the settings do not name the row's any more", "X", [A, B], false, "A"],
    ["has nobody on a rail that is off", "A", [], false, undefined],
  ])("%s", (_, facilitator, settlers, failed, expected) => {
    expect(next(facilitator, settlers, { failed })).toBe(expected);
  });
});

describe("a payment that is bound to a facilitator", () => {
  test.each<[string, Settler[], boolean, string | undefined]>([
    ["is settled by that one", [A, B], false, "B"],
    ["and after a failure by no other", [A, B], true, "B"],
    ["nor while it is away", [A, away("B")], true, "B"],
    ["nor when the settings do not name it any more", [A, C], true, undefined],
  ])("%s", (_, settlers, failed, expected) => {
    expect(next("B", settlers, { failed, any: false })).toBe(expected);
    // A fee payer binds it on any rail.
    expect(next("B", settlers, { failed, feePayer: "FEE" })).toBe(expected);
  });

  test("is settled by nobody where its row names none", () => {
    expect(next(undefined, [A, B], { any: false })).toBeUndefined();
  });
});

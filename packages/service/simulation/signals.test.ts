import { describe, expect, test } from "vitest";
import { PlainController, PlainSignal } from "./signals.ts";

const plain = {
  Controller: PlainController as unknown as typeof AbortController,
  Signal: PlainSignal as unknown as typeof AbortSignal,
};
const platform = { Controller: AbortController, Signal: AbortSignal };

describe.each([
  ["plain", plain],
  ["the platform's", platform],
])("%s signals", (_, { Controller, Signal }) => {
  test("abort once, with the reason that was given", () => {
    const controller = new Controller();
    const heard: string[] = [];
    const { signal } = controller;
    signal.addEventListener("abort", () => heard.push("first"), { once: true });
    const removed = () => heard.push("removed");
    signal.addEventListener("abort", removed);
    signal.removeEventListener("abort", removed);
    expect([signal.aborted, signal.reason]).toEqual([false, undefined]);
    signal.throwIfAborted();
    controller.abort("why");
    controller.abort("again");
    signal.addEventListener("abort", () => heard.push("too late"));
    expect([heard, signal.aborted, signal.reason]).toEqual([["first"], true, "why"]);
    expect(() => signal.throwIfAborted()).toThrow("why");
  });

  test("have an AbortError for a reason when none is given", () => {
    const controller = new Controller();
    controller.abort();
    expect(controller.signal.reason).toMatchObject({ name: "AbortError" });
    expect(Signal.abort().reason).toMatchObject({ name: "AbortError" });
    expect(Signal.abort("why")).toMatchObject({ aborted: true, reason: "why" });
  });

  test("follow the first of several to abort, all of them before the first listener runs", () => {
    const [one, two] = [new Controller(), new Controller()];
    const either = Signal.any([one.signal, two.signal]);
    const nested = Signal.any([either]);
    const heard: unknown[] = [];
    two.signal.addEventListener("abort", () => heard.push(["source", either.aborted, nested.aborted]));
    nested.addEventListener("abort", () => heard.push("nested"));
    either.addEventListener("abort", () => heard.push("either"));
    two.abort("second");
    one.abort("first");
    expect([either.reason, nested.reason]).toEqual(["second", "second"]);
    expect(heard[0]).toEqual(["source", true, true]);
    expect(heard.slice(1).sort()).toEqual(["either", "nested"]);
    expect(Signal.any([one.signal, two.signal])).toMatchObject({ aborted: true, reason: "first" });
    expect(Signal.any([]).aborted).toBe(false);
  });
});

test("plain ones return whether they had listeners", () => {
  const controller = new PlainController();
  PlainSignal.any([controller.signal]);
  expect(controller.abort("nobody")).toBe(false);
  const other = new PlainController();
  PlainSignal.any([other.signal]).addEventListener("abort", () => undefined);
  expect(other.abort("somebody")).toBe(true);
});

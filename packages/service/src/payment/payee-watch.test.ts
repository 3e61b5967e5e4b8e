import { expect, test } from "vitest";
import { unavailable } from "../providers/provider.ts";
import { watchPayees } from "./payee-watch.ts";

test("a payee that can no longer be paid closes its rail; while its chain cannot be read, the last result counts", async () => {
  let answer: () => string | undefined = () => {
    throw unavailable("no node answers");
  };
  const now = Date.UTC(2026, 10, 23);
  const payeeFault = async () => answer();
  const watch = watchPayees([{ rail: { name: "algorand", payeeFault }, payTo: "PAYEE" }], () => now);
  const read = () => watch.refresh(AbortSignal.timeout(1_000));

  await read();
  expect([watch.faults(), watch.unavailableReason("algorand")]).toEqual([[], "witness_missing: no node answers"]);
  answer = () => undefined;
  await read();
  expect([watch.faults(), watch.unavailableReason("algorand")]).toEqual([[], undefined]);
  answer = () => "has not opted in to USDC";
  await read();
  answer = () => {
    throw unavailable("no node answers");
  };
  await read();
  const fault = "rails.algorand.pay_to has not opted in to USDC";
  expect([watch.faults(), watch.unavailableReason("algorand")]).toEqual([[`${fault}.`], fault]);
});

test("a rail whose nodes have been too few to agree for a minute is closed until enough answer", async () => {
  const noon = Date.UTC(2026, 10, 23, 12);
  let [now, isAway] = [noon, false];
  const payeeFault = async () => {
    if (isAway) throw unavailable("2 of 2 must agree: rpc.example is down");
    return undefined;
  };
  const watch = watchPayees([{ rail: { name: "base", payeeFault }, payTo: "PAYEE" }], () => now);
  const readAt = async (ms: number) => {
    now = noon + ms;
    await watch.refresh(AbortSignal.timeout(1_000));
    return watch.unavailableReason("base");
  };
  expect(await readAt(0)).toBeUndefined();
  isAway = true;
  expect(await readAt(60_000)).toBeUndefined();
  expect(await readAt(60_001)).toBe(
    "witness_missing since 2026-11-23T12:00:00.000Z: 2 of 2 must agree: rpc.example is down",
  );
  isAway = false;
  expect(await readAt(75_000)).toBeUndefined();
});

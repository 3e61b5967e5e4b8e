import { expect, test } from "vitest";
import { unavailable } from "../providers/provider.ts";
import { watchPayees } from "./payee-watch.ts";

test("a payee that can no longer be paid closes its rail; while its chain cannot be read, the last result counts", async () => {
  let answer: () => string | undefined = () => {
    throw unavailable("no node answers");
  };
  const payeeFault = async () => answer();
  const watch = watchPayees([{ rail: { name: "algorand", payeeFault }, payTo: "PAYEE" }]);
  const read = () => watch.refresh(AbortSignal.timeout(1_000));

  await read();
  expect([watch.faults(), watch.obstacle("algorand")]).toEqual([
    [],
    "PAY_TO_ALGORAND could not be read on its chain yet",
  ]);
  answer = () => undefined;
  await read();
  expect([watch.faults(), watch.obstacle("algorand")]).toEqual([[], undefined]);
  answer = () => "has not opted in to USDC";
  await read();
  answer = () => {
    throw unavailable("no node answers");
  };
  await read();
  const fault = "PAY_TO_ALGORAND has not opted in to USDC";
  expect([watch.faults(), watch.obstacle("algorand")]).toEqual([[`${fault}.`], fault]);
});

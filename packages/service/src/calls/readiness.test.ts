import { expect, test } from "vitest";
import type { Rounds } from "../ledger/ledger.ts";
import type { Capacity } from "./capacity.ts";
import { readiness } from "./readiness.ts";

const NOW = 1_000_000;
const rounds = { latestAt: () => NOW } as Rounds;
const capacity = { refusal: () => undefined } as unknown as Capacity;

test("a rail on which nothing can be sold is told of, and is no reason to send everybody away until it is the last", () => {
  const obstacles = () => [{ network: "eip155:8453", obstacle: "it rains" }];
  const reasons = ["nothing is sold on eip155:8453: it rains"];
  const doubts = () => [];
  expect(readiness(rounds, capacity, { obstacles, doubts, isOpen: true }, NOW)).toEqual({ ready: true, reasons });
  expect(readiness(rounds, capacity, { obstacles, doubts, isOpen: false }, NOW)).toEqual({ ready: false, reasons });
});

test("what payers may have caused is told of, and sends nobody away", () => {
  const doubts = () => [{ network: "eip155:8453", doubt: "it may rain" }];
  const reasons = ["payments may fail on eip155:8453: it may rain"];
  const told = readiness(rounds, capacity, { obstacles: () => [], doubts, isOpen: true }, NOW);
  expect(told).toEqual({ ready: true, reasons });
});

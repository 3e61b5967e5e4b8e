import { expect, test } from "vitest";
import type { Rounds } from "../ledger/ledger.ts";
import type { Capacity } from "./capacity.ts";
import { readiness } from "./readiness.ts";

const NOW = 1_000_000;
const rounds = { latestAt: () => NOW } as Rounds;
const capacity = { refusal: () => undefined } as unknown as Capacity;
const parts = { rounds, capacity, watches: [], now: NOW };

test("a rail on which nothing can be sold is a reason, and makes the service unready only when no other rail is left", () => {
  const obstacles = () => [{ network: "eip155:8453", obstacle: "it rains" }];
  const reasons = ["nothing is sold on eip155:8453: it rains"];
  const doubts = () => [];
  expect(readiness({ ...parts, offers: { obstacles, doubts, isOpen: true } })).toEqual({ ready: true, reasons });
  expect(readiness({ ...parts, offers: { obstacles, doubts, isOpen: false } })).toEqual({ ready: false, reasons });
});

test("doubts that payers may have caused are reasons, and do not make the service unready", () => {
  const doubts = () => [{ network: "eip155:8453", doubt: "it may rain" }];
  const reasons = ["payments may fail on eip155:8453: it may rain"];
  const answer = readiness({ ...parts, offers: { obstacles: () => [], doubts, isOpen: true } });
  expect(answer).toEqual({ ready: true, reasons });
});

test("what a watch doubts is a reason, and does not make the service unready: other transactions are sold", () => {
  const offers = { obstacles: () => [], doubts: () => [], isOpen: true };
  const answer = readiness({
    ...parts,
    offers,
    watches: [{ doubt: () => undefined }, { doubt: () => "no indexer answers" }],
  });
  expect(answer).toEqual({ ready: true, reasons: ["no indexer answers"] });
});

import { expect, test } from "vitest";
import { Problem } from "../../lib/problems.ts";
import { readiness } from "./readiness.ts";

const health = { reasons: (): string[] => [] };
const capacity = { refusal: () => undefined };
const offers = { unavailable: () => [], degraded: () => [], isOpen: true };
const well = { health, capacity, offers };

test("a rail on which nothing can be sold is a reason, and makes the service unready only when no other rail is left", () => {
  const unavailable = () => [{ network: "eip155:8453", unavailableReason: "it rains" }];
  const reasons = ["nothing is sold on eip155:8453: it rains"];
  expect(readiness({ ...well, offers: { ...offers, unavailable } })).toEqual({ ready: true, reasons });
  expect(readiness({ ...well, offers: { ...offers, unavailable, isOpen: false } })).toEqual({ ready: false, reasons });
});

test("a rail that payers may have disturbed, and what is degraded, are reasons, and do not make the service unready", () => {
  const degraded = () => [{ network: "eip155:8453", degradedReason: "it may rain" }];
  const health = { reasons: (state: string) => (state === "degraded" ? ["no indexer answers"] : []) };
  const reasons = ["payments may fail on eip155:8453: it may rain", "no indexer answers"];
  expect(readiness({ ...well, health, offers: { ...offers, degraded } })).toEqual({ ready: true, reasons });
});

test("everything that is unavailable is a reason, and each reason stands once", () => {
  const health = { reasons: (state: string) => (state === "unavailable" ? ["No disk.", "No clock."] : []) };
  const refusing = { refusal: () => new Problem("disk_low", "No disk.", { retryAfter: 60 }) };
  const reasons = ["No disk.", "No clock."];
  expect(readiness({ ...well, health, capacity: refusing })).toEqual({ ready: false, reasons });
});

import { Writable } from "node:stream";
import type { Progress } from "@attestd/client";
import { expect, test } from "vitest";
import { terminal } from "../../terminal/terminal.ts";
import { interrupted, progressLines, signatureLines } from "./text.ts";

const offer = { network: "eip155:8453", amount: "1000", payTo: "0x1", payer: "0x2", maxTimeoutSeconds: 120 };
const until = Date.UTC(2026, 10, 28, 18, 7, 1);
const steps: Progress[] = [
  { step: "offered", offer },
  { step: "dated", aheadMs: 3_600_000 },
  { step: "signed", offer },
  { step: "waiting", code: "source_not_found", retryInMs: 1000 },
  { step: "waiting", code: "source_not_found", retryInMs: 1000 },
  { step: "refused", until },
  { step: "offered", offer },
  { step: "signed", offer },
  { step: "waiting", code: "source_not_found", retryInMs: 1000 },
];

function collected() {
  const lines: string[] = [];
  const stream = new Writable({
    write(chunk, _encoding, done) {
      lines.push(...String(chunk).trimEnd().split("\n"));
      done();
    },
  });
  const look = { unicode: true, colour: "never", isDumb: true } as const;
  return { lines, out: terminal(stream, look, (write) => write()) };
}

test("every signature of a purchase is printed, also while a source is waited for", () => {
  const { lines, out } = collected();
  const print = progressLines(out, { show: () => undefined } as never);
  for (const step of steps) print(step);
  expect(lines).toEqual([
    "  price      0.001 USDC on Base, from 0x2",
    "  clock      This device's clock is 3,600 s behind the service's; the payment is dated by the service's",
    "  ✓ signed",
    "  waiting    until the service knows the transaction; the same payment is sent again",
    "  refused    by the service; it can be taken until 2026-11-28 18:07:01 UTC, and no other is signed before",
    "  price      0.001 USDC on Base, from 0x2",
    "  ✓ signed",
    "  waiting    until the service knows the transaction; the same payment is sent again",
  ]);
});

test("every signature of a list is printed, and counted", () => {
  const { lines, out } = collected();
  let signed = 0n;
  const print = signatureLines(out, (amount) => (signed += amount));
  for (const step of steps) print(step);
  expect(lines.filter((line) => line.includes("signed"))).toEqual(Array(2).fill("  ✓ signed 0.001 USDC on Base"));
  expect(signed).toBe(2000n);
});

test("a command that is interrupted at its question says that nothing was paid only if it has signed nothing", () => {
  expect(interrupted(0n)).toMatchObject({ exitCode: 130, more: ["Nothing was paid."] });
  expect(interrupted(2000n)).toMatchObject({
    exitCode: 130,
    more: ["Run the same command again; you will not pay twice.", "This command has signed 0.002 USDC in all."],
  });
});

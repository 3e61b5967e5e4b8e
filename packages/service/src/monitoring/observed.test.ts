import { expect, test } from "vitest";
import { aCall, after, GOOD_COURSE } from "../../test/fakes/calls.ts";
import { transitionObserver } from "./observed.ts";

test("a paid call has one line at its end, with what an operator asks for and without its payment's signature", () => {
  const lines: [object, string][] = [];
  const observe = transitionObserver({ info: (...line: unknown[]) => void lines.push(line as [object, string]) });
  const payload = { ...aCall().payload, payload: { signature: "0xsecret" } };
  let call = aCall({ payload, facilitator: "https://facilitator.example" });
  for (const event of GOOD_COURSE) {
    expect(lines).toEqual([]);
    const next = after(call, event);
    observe(call, next);
    call = next;
  }
  expect(lines).toEqual([
    [
      expect.objectContaining({
        key: "algorand:genesis/PAYMENT",
        state: "done",
        subject: { kind: "transaction", chain: "algorand", id: "SOURCE" },
        payer: "PAYER",
        amount: "1000",
        facilitator: "https://facilitator.example",
        settlements: 1,
        payment: "PAYMENT",
        attestation: "ATTEST",
        attempts: 1,
        round: 12,
        bundle: "S",
        ms: expect.any(Number),
      }),
      "paid call ended",
    ],
  ]);
  expect(JSON.stringify(lines)).not.toContain("secret");
  // Looked at again until the payment is final: it has ended once.
  observe(call, { ...call, version: call.version + 1 });
  expect(lines).toHaveLength(1);
});

import { expect, test } from "vitest";
import { sampleOf } from "../../../../../test/helpers/samples.ts";
import { aCall, after, GOOD_COURSE } from "../../../test/fakes/calls.ts";
import type { Call } from "../../calls/call.ts";
import { payloadOf } from "../../calls/call.ts";
import type { CallEvent } from "../../calls/machine.ts";
import { startMetrics } from "../../observe/metrics/meter.ts";
import { observedJournal, transitionObserver } from "./observed.ts";

type Line = [object, string];

const logInto = (lines: Line[], levels: string[] = []) => {
  const at =
    (level: string) =>
    (...line: unknown[]) => {
      levels.push(level);
      lines.push(line as Line);
    };
  return { info: at("info"), warn: at("warn"), error: at("error") };
};

test("a paid call has one line at its end, with what an operator asks for and without its payment's signature", () => {
  const lines: Line[] = [];
  const observe = transitionObserver(logInto(lines));
  const payload = { ...payloadOf(aCall()), payload: { signature: "0xsecret" } };
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
        outcome: "done",
        subject: { kind: "transaction", chain: "algorand", id: "SOURCE" },
        network: call.requirement.network,
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
  // The payment is checked again until it is final, but the call has ended only once.
  observe(call, { ...call, version: call.version + 1 });
  expect(lines).toHaveLength(1);
});

const VOID: CallEvent = { type: "payment_void", reason: "expired", receipt: "receipt" };
const UNFINAL = GOOD_COURSE.map((event) =>
  event.type === "payment_proved" ? { ...event, proof: { ...event.proof, final: false } } : event,
);
const LOST: CallEvent = { type: "payment_lost", reason: "gone" };

test.each<[outcome: string, level: string, course: readonly CallEvent[]]>([
  ["done", "info", GOOD_COURSE],
  ["void", "warn", [VOID]],
  ["loss", "error", [...UNFINAL, LOST]],
])("a call that ends as %s is logged as %s", (outcome, level, course) => {
  const [lines, levels]: [Line[], string[]] = [[], []];
  const observe = transitionObserver(logInto(lines, levels));
  let call = aCall();
  for (const event of course) {
    const next = after(call, event);
    observe(call, next);
    call = next;
  }
  expect([lines.at(-1)?.[0], levels.at(-1)]).toEqual([expect.objectContaining({ outcome }), level]);
});

test("a journal that is observed gets what it is handed, the expectation of a call among it", async () => {
  const handed: unknown[][] = [];
  const journal = observedJournal({
    insert: async (...given) => {
      handed.push(given);
      return given[0];
    },
    update: async (...given) => void handed.push(given),
  });
  const [call, expectation] = [aCall(), { end: () => undefined }];
  await journal.insert(call, expectation);
  await journal.update(call);
  expect(handed).toEqual([[call, expectation], [call]]);
});

test("commits that the journal has not answered are counted, and those that fail wait no more", async () => {
  const gate = Promise.withResolvers<void>();
  const journal = observedJournal({
    insert: async (call) => gate.promise.then(() => call),
    update: (_call: Call) => gate.promise.then(() => Promise.reject(new Error("the disk is full"))),
  });
  const waiting = async () => {
    const text = await (await startMetrics()).text();
    return ["insert", "update"].map((operation) => sampleOf(text, "attestd_journal_commits_waiting", { operation }));
  };
  const commits = Promise.allSettled([journal.insert(aCall()), journal.insert(aCall()), journal.update(aCall())]);
  expect(await waiting()).toEqual([2, 1]);
  gate.resolve();
  await commits;
  expect(await waiting()).toEqual([0, 0]);
});

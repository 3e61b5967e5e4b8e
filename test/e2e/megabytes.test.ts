import { Worker } from "node:worker_threads";
import { expect, test } from "vitest";

/** Linear readers take a few seconds for all, even on a busy machine; a quadratic one takes minutes for one. */
const DEADLINE_MS = 120_000;

type Message = { at: string } | { fault: string } | { fed: number };

test("every reader of a stranger's text reads a megabyte of any character in time", {
  timeout: DEADLINE_MS + 10_000,
}, async () => {
  const worker = new Worker(new URL("./megabytes.ts", import.meta.url));
  const faults: string[] = [];
  let [at, fed] = ["the start", 0];
  const ending = new Promise<string>((resolve, reject) => {
    worker.on("message", (message: Message) => {
      if ("at" in message) at = message.at;
      else if ("fault" in message) faults.push(message.fault);
      else fed = message.fed;
    });
    worker.once("error", reject);
    worker.once("exit", () => resolve("fed"));
    setTimeout(() => resolve(`not done after ${DEADLINE_MS / 1000} s: ${at}`), DEADLINE_MS).unref();
  });
  try {
    expect(await ending).toBe("fed");
  } finally {
    await worker.terminate();
  }
  expect(faults).toEqual([]);
  expect(fed).toBeGreaterThan(1000);
});

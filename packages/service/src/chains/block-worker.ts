import { parentPort } from "node:worker_threads";
import { DecodeError } from "@attestd/proof/encoding";
import { BLOCK_WORK, type BlockWork } from "./block-work.ts";

/** One function to be run. A worker has one at a time. */
export type Job = { name: keyof BlockWork; args: readonly unknown[] };
/** What it gave, or why it did not. */
export type Outcome = { value: unknown } | { error: string; malformed: boolean };

const port = parentPort;
if (!port) throw new Error("block-worker.ts runs as a worker");

port.on("message", async ({ name, args }: Job) => {
  port.postMessage(await run(name, args));
});

async function run(name: keyof BlockWork, args: readonly unknown[]): Promise<Outcome> {
  try {
    return { value: await (BLOCK_WORK[name] as (...args: readonly unknown[]) => unknown)(...args) };
  } catch (error) {
    return { error: String((error as Error).message), malformed: error instanceof DecodeError };
  }
}

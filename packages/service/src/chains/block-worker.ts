import { parentPort } from "node:worker_threads";
import { DecodeError } from "@attestd/proof/encoding";
import { type BlockWorkName, runBlockWork } from "./block-work.ts";

/** One function to be run. A worker has one at a time. */
export type Job = { name: BlockWorkName; args: readonly unknown[] };
/** What it gave, or why it did not. */
export type Outcome = { value: unknown } | { error: string; malformed: boolean };

const port = parentPort;
if (!port) throw new Error("block-worker.ts runs as a worker");

port.on("message", async ({ name, args }: Job) => {
  port.postMessage(await run(name, args));
});

async function run(name: BlockWorkName, args: readonly unknown[]): Promise<Outcome> {
  try {
    return { value: await runBlockWork(name, args) };
  } catch (error) {
    return { error: String((error as Error).message), malformed: error instanceof DecodeError };
  }
}

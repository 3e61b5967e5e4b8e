import { parentPort } from "node:worker_threads";
import { DecodeError } from "@attestd/proof/encoding";
import type { Job, Outcome, Telling } from "./threads.ts";

/**
 * Makes this thread one of `createThreads`.
 * @param run runs a function by its name
 * @param rely takes what the functions go by from now on
 */
export function answerJobs(
  run: (name: string, args: readonly unknown[]) => unknown,
  rely: (premises: unknown) => void = () => undefined,
): void {
  const port = parentPort;
  if (!port) throw new Error("answerJobs is called on a thread");
  port.on("message", (telling: Telling) => {
    if ("premises" in telling) return rely(telling.premises);
    void Promise.all(telling.jobs.map(answer)).then((outcomes) => port.postMessage(outcomes));
  });

  async function answer({ id, name, args }: Job): Promise<Outcome> {
    try {
      return { id, value: await run(name, args) };
    } catch (error) {
      return { id, error: String((error as Error).message), malformed: error instanceof DecodeError };
    }
  }
}

import { constants, platform, setPriority } from "node:os";
import { parentPort, workerData } from "node:worker_threads";
import { DecodeError } from "@attestd/proof/encoding";
import type { Handed, Job, Outcome, Telling, ThreadData } from "./pool.ts";

/**
 * Makes this thread one of `createThreads`.
 * @param run runs a function by its name
 * @param rely takes what the functions go by from now on
 * @param handOver what of a value is handed over: nothing on this thread may use it any more
 */
export function answerJobs(
  run: (name: string, args: readonly unknown[]) => unknown,
  rely: (premises: unknown) => void = () => undefined,
  handOver: (value: unknown) => Handed = () => [],
): void {
  const port = parentPort;
  if (!port) throw new Error("answerJobs is called on a thread");
  // On Linux alone a thread has a priority of its own; elsewhere this would be the whole process' (setpriority(2), "Bugs").
  if ((workerData as ThreadData).background && platform() === "linux")
    setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
  port.on("message", (telling: Telling) => {
    if ("premises" in telling) return rely(telling.premises);
    void Promise.all(telling.jobs.map(answer)).then((outcomes) => {
      port.postMessage(
        outcomes,
        outcomes.flatMap((outcome) => ("value" in outcome ? handOver(outcome.value) : [])),
      );
    });
  });

  async function answer({ id, name, args }: Job): Promise<Outcome> {
    try {
      return { id, value: await run(name, args) };
    } catch (error) {
      return { id, error: String((error as Error).message), malformed: error instanceof DecodeError };
    }
  }
}

import { constants, platform, setPriority } from "node:os";
import { parentPort, workerData } from "node:worker_threads";
import { isProofError } from "@attestd/proof/errors";
import { useNativeSha2 } from "../crypto/sha2.ts";
import type { Job, JobResult, Transfer, WorkerData, WorkerMessage } from "./pool.ts";

/**
 * Makes this thread a worker of a `WorkerPool`.
 *
 * @param run runs a function by its name
 * @param onShared receives each value that the pool shares
 * @param transferOf the buffers of a result to transfer; this thread MUST NOT use them any more
 */
export function answerJobs(
  run: (name: string, args: readonly unknown[]) => unknown,
  onShared: (value: unknown) => void = () => undefined,
  transferOf: (result: unknown) => Transfer = () => [],
): void {
  const port = parentPort;
  if (!port) throw new Error("answerJobs runs only in a worker");
  useNativeSha2();
  // Only on Linux does this set the priority of the thread, not of the process (setpriority(2), "Bugs").
  if ((workerData as WorkerData).background && platform() === "linux")
    setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
  port.on("message", (message: WorkerMessage) => {
    if ("shared" in message) return onShared(message.shared);
    void Promise.all(message.jobs.map(answer)).then((results) => {
      port.postMessage(
        results,
        results.flatMap((result) => ("value" in result ? transferOf(result.value) : [])),
      );
    });
  });

  async function answer({ id, name, args }: Job): Promise<JobResult> {
    try {
      return { id, value: await run(name, args) };
    } catch (error) {
      return { id, error: String((error as Error).message), malformed: isProofError(error, "malformed") };
    }
  }
}

import type { Judgement, JudgeOptions } from "../src/judge.ts";
import type { JudgeRequest } from "./judge-worker.ts";

export type Judging = ReturnType<typeof startJudging>;

/**
 * Starts a worker that judges files, so that the page stays responsive.
 * @param scriptUrl of the worker, which is loaded at once, so that files are judged offline too
 */
export function startJudging(scriptUrl: string) {
  const waiting = new Map<number, (judgement: Judgement | undefined) => void>();
  let numbers = 0;
  let worker = start();
  return {
    /** @returns undefined when `cancel` was called meanwhile */
    judge(bytes: Uint8Array, options: JudgeOptions): Promise<Judgement | undefined> {
      const number = numbers++;
      const { promise, resolve } = Promise.withResolvers<Judgement | undefined>();
      waiting.set(number, resolve);
      worker.postMessage({ number, bytes, options } satisfies JudgeRequest);
      return promise;
    },
    /** Stops all judging. */
    cancel() {
      worker.terminate();
      for (const resolve of waiting.values()) resolve(undefined);
      waiting.clear();
      worker = start();
    },
  };

  function start(): Worker {
    const started = new Worker(scriptUrl, { type: "module" });
    started.addEventListener("message", ({ data }: MessageEvent<{ number: number; judgement: Judgement }>) => {
      waiting.get(data.number)?.(data.judgement);
      waiting.delete(data.number);
    });
    return started;
  }
}

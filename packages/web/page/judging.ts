import type { Judgement, Premises } from "../src/judge.ts";
import type { JudgeRequest } from "./judge-worker.ts";

/** Judges files in a worker, so that the page stays responsive. */
export interface Judging {
  /** @returns undefined where a later `cancel` came first */
  judge(bytes: Uint8Array, premises: Premises): Promise<Judgement | undefined>;
  /** Ends what is under way. */
  cancel(): void;
}

/** @param scriptUrl of the worker, which is loaded at once: files are judged without a network, too */
export function startJudging(scriptUrl: string): Judging {
  const waiting = new Map<number, (judgement: Judgement | undefined) => void>();
  let numbers = 0;
  let worker = start();
  return {
    judge(bytes, premises) {
      const number = numbers++;
      const { promise, resolve } = Promise.withResolvers<Judgement | undefined>();
      waiting.set(number, resolve);
      worker.postMessage({ number, bytes, premises } satisfies JudgeRequest);
      return promise;
    },
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

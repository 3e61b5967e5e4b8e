import { judge, type Premises } from "../src/judge.ts";

/** What the page asks its worker, and under which number it wants the answer. */
export type JudgeRequest = { number: number; bytes: Uint8Array; premises: Premises };

addEventListener("message", async ({ data }: MessageEvent<JudgeRequest>) => {
  const judgement = await judge(data.bytes, data.premises);
  postMessage({ number: data.number, judgement });
});

import { type JudgeOptions, judge } from "../src/judge.ts";

/** The page's request to its worker; the answer has the same number. */
export type JudgeRequest = { number: number; bytes: Uint8Array; options: JudgeOptions };

addEventListener("message", async ({ data }: MessageEvent<JudgeRequest>) => {
  const judgement = await judge(data.bytes, data.options);
  postMessage({ number: data.number, judgement });
});

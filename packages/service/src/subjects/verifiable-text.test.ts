import { expect, test } from "vitest";
import { verifiableText } from "./batch-answer.ts";

test("what verifies of a batch's answer is its first item with the head; of any other bundle all of it", () => {
  const item = (index: number) => `{"network":"algorand-mainnet","proof":{"index":${index}}}`;
  const answer = `{"batch":{"size":2},"items":[${item(0)},${item(1)}]}`;
  expect(verifiableText(answer)).toBe('{"batch":{"size":2},"network":"algorand-mainnet","proof":{"index":0}}');
  expect(verifiableText('{"version":1}')).toBe('{"version":1}');
});

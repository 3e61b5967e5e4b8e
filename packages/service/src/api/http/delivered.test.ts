import { expect, test } from "vitest";
import { json } from "../endpoints/answer.ts";
import { complete } from "./cors.ts";
import { createDeliveredCache, requestName } from "./delivered.ts";

const answer = (body: string) => complete(json(200, body, { "payment-response": "abc" }));

test("a delivered answer is found by its request until newer answers evict it", () => {
  const lately = createDeliveredCache(27);
  lately.keep("first", answer("1234"));
  lately.keep("second", answer("12345"));
  expect(lately.find("first")).toEqual(answer("1234"));
  lately.keep("third", answer("12"));
  expect(lately.find("first")).toBeUndefined();
  expect(lately.find("second")).toEqual(answer("12345"));
  expect(lately.find("third")).toEqual(answer("12"));
  expect(lately.find("fourth")).toBeUndefined();
});

test("an answer that is kept twice counts once, and one larger than the cache is not kept", () => {
  const lately = createDeliveredCache(19);
  for (let i = 0; i < 3; i++) lately.keep("first", answer("123456"));
  expect(lately.find("first")).toEqual(answer("123456"));
  lately.keep("large", answer("123456789012"));
  expect(lately.find("large")).toBeUndefined();
  lately.keep("second", answer("1234567890"));
  expect(lately.find("second")).toEqual(answer("1234567890"));
});

test("an answer that is kept keeps no memory but its own", () => {
  const lately = createDeliveredCache(1_000_000);
  const pooled = answer("x".repeat(25_000));
  lately.keep("request", pooled);
  const kept = lately.find("request")?.body;
  expect(kept).toEqual(pooled.body);
  if (!(kept instanceof Uint8Array)) throw new Error("no bytes are kept");
  expect(kept.buffer.byteLength).toBe(25_000);
});

test("requests that differ in the header, the body or the boundary between them have different names", () => {
  const bytes = (text: string) => new TextEncoder().encode(text);
  const names = [
    requestName("ab", bytes("c")),
    requestName("a", bytes("bc")),
    requestName("abc", bytes("")),
    requestName("ab", bytes("d")),
  ];
  expect(new Set(names).size).toBe(names.length);
  expect(requestName("ab", bytes("c"))).toBe(names[0]);
});

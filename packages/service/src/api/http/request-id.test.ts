import { expect, test } from "vitest";
import { requestIdOf } from "./request-id.ts";

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const asking = (id: string) => ({ headers: { "x-request-id": id } });

test("an id of a stranger's choice is not taken in", () => {
  const ids = [1, 2].map(() => requestIdOf(asking("2f1c9e0d4b7a"), false));
  expect(ids).toEqual([expect.stringMatching(UUID), expect.stringMatching(UUID)]);
  expect(ids[0]).not.toBe(ids[1]);
});

test.each(["0a1b2c3d4e5f60718293a4b5c6d7e8f9", "b8f1a8a2-7d53-4a63-9d06-3f6f1d5b8f11"])(
  "%s, as nginx and Caddy write ids, is taken from the operator's proxy",
  (id) => {
    expect(requestIdOf(asking(id), true)).toBe(id);
  },
);

test.each([
  ["short", "1234567"],
  ["long", "a".repeat(65)],
  ["of two headers", "0a1b2c3d4e5f, 0a1b2c3d4e5f"],
  ["with markup", "<script>alert(1)</script>"],
  ["with a line end", "0a1b2c3d\n0a1b2c3d"],
  ["with a quote", 'abcdefgh","level":60'],
  ["of a terminal", "\u001b[2Jabcdefgh"],
  ["of other alphabets", "абвгдежз"],
  ["empty", ""],
])("an id that is %s is not taken from the proxy either", (_, id) => {
  expect(requestIdOf(asking(id), true)).toMatch(UUID);
});

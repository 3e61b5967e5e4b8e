import { expect, test } from "vitest";
import { hexBytes } from "./hex-bytes.ts";

const LONG = `0x${"aF".repeat(2 ** 23)}`;

test("bytes in hex are taken as they are, 8 MB of them too", () => {
  for (const text of ["0x", "0x00", "0xaB"]) expect(hexBytes.parse(text)).toBe(text);
  expect(hexBytes.safeParse(LONG).success).toBe(true);
});

test("whatever else is refused, and is no failure of ours, however long it is", () => {
  for (const text of ["", "00", "0x0", "0xg0", "0x00 ", "0X00", "0x00\n", `${LONG}!`])
    expect(hexBytes.safeParse(text).success).toBe(false);
});

import { expect, test } from "vitest";
import { estimatedMonth } from "./display.ts";

test("a month is estimated only for MainNet", () => {
  const mainnet = "algorand:wGHE2Pwdvd7S12BL5FaOP20EGYesN73k";
  // The header of this round says 25 July 2024.
  expect(estimatedMonth(41_000_000, mainnet)).toBe("about July 2024");
  expect(estimatedMonth(1000, mainnet)).toBeUndefined();
  expect(estimatedMonth(41_000_000, "algorand:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA")).toBeUndefined();
});

import { createHash } from "node:crypto";
import { base58 } from "@scure/base";
import { type Address, getAddressDecoder, getAddressEncoder, isAddress, isOffCurveAddress } from "@solana/kit";
import { expect, test } from "vitest";
import { isOnCurve, solanaAddressBytes } from "./solana-address.ts";

/** Bytes that look random and are the same in every run. */
const drawn = (i: number) => new Uint8Array(createHash("sha256").update(`address ${i}`).digest());
const ADDRESSES = [
  ...Array.from({ length: 200 }, (_, i) => drawn(i)),
  ...Array.from({ length: 33 }, (_, zeros) => drawn(zeros).fill(0, 0, zeros)),
  new Uint8Array(32).fill(255),
  // The identity, its negative spelling, and a y that is not reduced.
  ...["01", "ee", "ed"].flatMap((first) => {
    const rest = first === "01" ? "00".repeat(30) : "ff".repeat(30);
    return ["00", "7f", "80", "ff"].map((last) => Uint8Array.fromHex(first + rest + last));
  }),
];

test("addresses are read, and found on the curve or off it, as in @solana/kit", () => {
  let onCurve = 0;
  for (const bytes of ADDRESSES) {
    const address = getAddressDecoder().decode(bytes);
    expect(solanaAddressBytes(address)).toEqual(bytes);
    expect(base58.encode(bytes)).toBe(address);
    expect(isOnCurve(bytes)).toBe(!isOffCurveAddress(address));
    if (isOnCurve(bytes)) onCurve += 1;
  }
  expect(onCurve).toBeGreaterThan(50);
  expect(onCurve).toBeLessThan(200);
});

test.each([
  "",
  "1".repeat(31),
  "1".repeat(33),
  "z".repeat(44),
  "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1",
  "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v1",
  "0PjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v",
  " PjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v",
])("%j is not an address, as in @solana/kit", (text) => {
  const bytes = solanaAddressBytes(text);
  expect(bytes !== undefined).toBe(isAddress(text));
  if (bytes) expect(bytes).toEqual(new Uint8Array(getAddressEncoder().encode(text as Address)));
});

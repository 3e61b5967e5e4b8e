import algosdk from "algosdk";
import fc from "fast-check";
import { expect, it } from "vitest";
import { seedOfMnemonic } from "./mnemonic.ts";

it("gives the seed that algosdk gives", () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), (seed) => {
      const mnemonic = algosdk.mnemonicFromSeed(seed);
      expect(seedOfMnemonic(` ${mnemonic.replaceAll(" ", "\n ")} `)).toEqual(seed);
    }),
  );
});

it("refuses what algosdk refuses: another word, another place, bits beyond the seed", () => {
  const words = algosdk.mnemonicFromSeed(new Uint8Array(32).fill(7)).split(" ");
  const other = (place: number, word: string) => words.with(place, word).join(" ");
  for (let place = 0; place < words.length; place++) {
    const altered = other(place, words[place] === "zoo" ? "abandon" : "zoo");
    expect(() => algosdk.seedFromMnemonic(altered)).toThrow();
    expect(() => seedOfMnemonic(altered)).toThrow("its checksum is wrong");
  }
  expect(() => seedOfMnemonic(words.toReversed().join(" "))).toThrow("its checksum is wrong");
});

it("the message names the fault, and quotes no word of the secret", () => {
  const words = algosdk.mnemonicFromSeed(new Uint8Array(32).fill(9)).split(" ");
  expect(() => seedOfMnemonic(words.slice(1).join(" "))).toThrow("must be 25 words");
  const misspelt = words.with(4, "hunter2").join(" ");
  expect(() => seedOfMnemonic(misspelt)).toThrow(/word 5 is not$/);
});

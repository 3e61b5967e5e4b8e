import { expect, test } from "vitest";
import { learn, type Parts, pack, textOf, unpack } from "./packing.ts";

const RECEIPT = Buffer.from('{"success":true,"note":"é"}').toString("base64");

function someParts(over: Partial<Parts> = {}): Parts {
  return {
    payer: "PAYER",
    subject_hash: "00",
    request: JSON.stringify({ payload: { signature: "s".repeat(60) }, text: 'a "\\ \u0000 \ud800 é' }),
    progress: JSON.stringify({ receipt: RECEIPT, reason: '"receipt":0', settlements: 1 }),
    bundle: '{"of":"é"}',
    attempts: '[{"txid":"A","raw":"00ff7f"},{"txid":"B","raw":"c3a9"}]',
    ...over,
  };
}

test("parts come back as they are, with a dictionary and without", async () => {
  const [one, other] = [someParts(), someParts({ payer: "ANOTHER", bundle: null })];
  const dictionary = learn("kind", textOf(one), textOf(other));
  for (const used of [undefined, dictionary]) {
    const packed = await pack(one, used);
    expect(unpack(packed, used?.content)).toEqual(one);
  }
});

test("a receipt that is not base64 as we write it stays as it is", async () => {
  const parts = someParts({ progress: '{"receipt":"not base64"}', attempts: '[{"raw":"0"}]' });
  const packed = await pack(parts);
  expect(unpack(packed, undefined)).toEqual(parts);
});

test("parts with what stands for a receipt come back as they are, too", async () => {
  const parts = someParts({ progress: '{"receipt":0}', payer: "lone \ud800" });
  const dictionary = learn("kind", textOf(parts), textOf(someParts()));
  for (const used of [undefined, dictionary]) expect(unpack(await pack(parts, used), used?.content)).toEqual(parts);
});

test("a packed call of which a byte is another, or whose dictionary is, is refused", async () => {
  const [one, other] = [someParts(), someParts({ payer: "ANOTHER" })];
  const dictionary = learn("kind", textOf(one), textOf(other));
  const packed = await pack(one, dictionary);
  expect(() => unpack(packed, undefined)).toThrow();
  const damaged = Uint8Array.from(packed);
  damaged[packed.length - 6] = (damaged[packed.length - 6] as number) ^ 1;
  expect(() => unpack(damaged, dictionary?.content)).toThrow();
});

import { CHAINS } from "@attestd/proof";
import fc from "fast-check";
import { expect, test } from "vitest";
import { CATALOGUE } from "../catalogue/catalogue.ts";
import { parseInput, validate } from "../catalogue/input.ts";
import type { ChainName } from "../chains/chain.ts";
import type { Sale } from "../payment/sale.ts";
import { batchSaleReader } from "./batch-sale.ts";
import { batchSubject, saleOf } from "./subject.ts";

const CONFIGURED: ReadonlyMap<ChainName, unknown> = new Map([
  ["algorand", 1],
  ["base", 1],
]);
const MAX = 1000;
const read = batchSaleReader(CONFIGURED, MAX);

/** What the price of a body is by those who read the whole request. */
function strict(body: Uint8Array): Sale | undefined {
  const { body: described } = CATALOGUE.attestBatch;
  try {
    return saleOf(batchSubject(validate(described.schema, parseInput(body, described)), CONFIGURED, MAX));
  } catch {
    return undefined;
  }
}

const BASE32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
const algorandId = fc
  .tuple(fc.string({ unit: fc.constantFrom(...BASE32), minLength: 51, maxLength: 51 }), fc.constantFrom("A", "Q"))
  .map((parts) => parts.join(""));
const baseId = fc
  .string({ unit: fc.constantFrom(..."0123456789abcdefABCDEF"), minLength: 64, maxLength: 64 })
  .map((hex) => `0x${hex}`);
const withChain = (id: fc.Arbitrary<string>, chain: string) =>
  id.chain((txid) => fc.constantFrom<object>({ txid }, { txid, chain }, { chain, txid }));
const item = fc.oneof(withChain(algorandId, "algorand"), withChain(baseId, "base"));
const request = fc
  .tuple(fc.array(item, { minLength: 2, maxLength: 12 }), fc.constantFrom("none", "before", "after"))
  .map(([items, where]) =>
    where === "none"
      ? { items }
      : where === "after"
        ? { items, require: "succeeded" }
        : { require: "succeeded", items },
  );
const spelled = fc
  .tuple(request, fc.constantFrom(undefined, 1, "\t", "\r\n"))
  .map(([value, space]) => JSON.stringify(value, null, space));

test("the price of a batch, however its members are ordered and spaced, is read as from the whole request", () => {
  fc.assert(
    fc.property(spelled, (text) => {
      const body = Buffer.from(text);
      const sale = read(body);
      expect(sale).toBeDefined();
      expect(sale).toEqual(strict(body));
    }),
  );
});

test("a price is read of no body that is refused as a whole, and never another one", () => {
  const faults = fc.array(
    fc.record({
      at: fc.nat(),
      remove: fc.nat({ max: 2 }),
      insert: fc.oneof(
        fc.constantFrom(
          "",
          " ",
          "\f",
          ",",
          '"',
          "{",
          "}",
          "[]",
          "\\u0030",
          "\0",
          "é",
          '"items":',
          '"txid":',
          '"chain":"base"',
        ),
        fc.string({ unit: "grapheme-ascii", maxLength: 2 }),
      ),
    }),
    { minLength: 1, maxLength: 2 },
  );
  fc.assert(
    fc.property(spelled, faults, (text, changes) => {
      const changed = changes.reduce((rest, { at, remove, insert }) => {
        const place = at % (rest.length + 1);
        return rest.slice(0, place) + insert + rest.slice(place + remove);
      }, text);
      const body = Buffer.from(changed);
      const sale = read(body);
      if (sale) expect(sale).toEqual(strict(body));
    }),
    { numRuns: 3_000 },
  );
});

const id = (n: number) => `0x${n.toString(16).padStart(64, "0")}`;
const many = (count: number) => ({ items: Array.from({ length: count }, (_, n) => ({ txid: id(n) })) });

test.each([
  ["an id twice", { items: [{ txid: id(10) }, { txid: id(10).toUpperCase().replace("X", "x") }] }],
  ["one item", many(1)],
  ["no items", many(0)],
  ["an item too many", many(MAX + 1)],
  ["an id of another chain than is named", { items: [{ txid: id(1), chain: "algorand" }, { txid: id(2) }] }],
  ["an item without an id", { items: [{ txid: id(1) }, { chain: "base" }] }],
  ["another requirement", { ...many(2), require: "failed" }],
  ["an unknown member", { ...many(2), more: 1 }],
])("no price is read of a batch with %s", (_, value) => {
  const body = Buffer.from(JSON.stringify(value));
  expect(strict(body)).toBeUndefined();
  expect(read(body)).toBeUndefined();
});

test("the largest batch has a price, and one of a chain that is not attested here has none", () => {
  expect(read(Buffer.from(JSON.stringify(many(MAX))))).toEqual({ chains: ["base"], items: MAX });
  expect(batchSaleReader(new Map([["algorand", 1]]), MAX)(Buffer.from(JSON.stringify(many(2))))).toBeUndefined();
  const [first, ...rest] = CHAINS;
  const odd = { ...first, transactionId: { pattern: /^(a|b)+$/, description: "" } } as (typeof CHAINS)[number];
  expect(batchSaleReader(CONFIGURED, MAX, [odd, ...rest])(Buffer.from(JSON.stringify(many(2))))).toBeUndefined();
});

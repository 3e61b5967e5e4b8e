import { isProofError, parseJson } from "@attestd/proof";
import fc from "fast-check";
import { expect, test } from "vitest";
import { Problem } from "../lib/problems.ts";
import { parseInput, parseLongList } from "./input.ts";
import { LongList } from "./long-list.ts";

const text = fc.string({ unit: fc.constantFrom(...'ab"\\[]{},:é') });
const item = fc.oneof(
  { weight: 5, arbitrary: fc.record({ txid: text, chain: text }, { requiredKeys: ["txid"] }) },
  { weight: 5, arbitrary: fc.record({ txid: text, chain: fc.constant("base") }) },
  fc.jsonValue({ maxDepth: 2 }),
);
const request = fc.tuple(fc.array(item, { minLength: 66, maxLength: 90 }), fc.constantFrom(undefined, 1, "\t", "\r\n"));
const listOf = (body: string) => (parseInput(body) as unknown as { items: LongList }).items;

/** Parses the whole request at once; undefined if it is not strict JSON. */
function readAtOnce(body: string): unknown {
  try {
    return parseJson(body, { allowFractions: true });
  } catch (error) {
    if (!isProofError(error, "json")) throw error;
    return undefined;
  }
}

function readLater(body: string): unknown {
  try {
    const read = parseInput(body) as unknown as { items?: unknown } | null;
    return read?.items instanceof LongList ? { ...read, items: parseLongList(read.items) } : read;
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return undefined;
  }
}

test("a long list that is read later is what it would have been at once, however a request is written or broken", () => {
  const changes = fc.array(
    fc.record({
      at: fc.nat(),
      remove: fc.nat(2),
      insert: fc.constantFrom("", '"', "[", "]", "{", "}", ",", "\\", "0"),
    }),
    { maxLength: 3 },
  );
  let refused = 0;
  fc.assert(
    fc.property(request, changes, ([items, space], changed) => {
      const body = changed.reduce(
        (rest, { at, remove, insert }) => {
          const place = at % (rest.length + 1);
          return rest.slice(0, place) + insert + rest.slice(place + remove);
        },
        JSON.stringify({ items, require: "succeeded" }, null, space),
      );
      const whole = readAtOnce(body);
      if (whole === undefined) refused++;
      expect(readLater(body)).toEqual(whole);
    }),
    { numRuns: 400 },
  );
  expect(refused).toBeGreaterThan(40);
});

test("a long list has the ids that its items have", () => {
  const id = fc.string({ unit: fc.constantFrom(..."0xABcdef234567"), maxLength: 70 });
  const chain = fc.oneof(text, fc.constantFrom("base", "algorand", '"}, {"txid":"'));
  const items = fc.array(fc.record({ chain, txid: id }, { requiredKeys: ["txid"] }), { minLength: 66 });
  fc.assert(
    fc.property(items, fc.constantFrom(undefined, 1), (list, space) => {
      const taken = listOf(JSON.stringify({ items: list }, null, space));
      expect(JSON.parse(taken.json)).toEqual(list);
      expect(taken.txids).toEqual(list.map(({ txid }) => txid));
      expect(taken.length).toBe(list.length);
    }),
  );
});

test("items that are alike are counted, however many, and a list within a list ends where it ends", () => {
  const alike = Array.from({ length: 1000 }, () => ({ txid: "0xab", chain: "base" }));
  expect(listOf(JSON.stringify({ items: alike }))).toHaveLength(1000);
  // Behind each id stands the same text, one bracket deeper.
  const rest = Array.from({ length: 70 }, () => 0);
  const nested = { items: [{ txid: "x" }, [{ txid: "x" }, [{ txid: "x" }, ...rest]]], more: [0] };
  expect(readLater(JSON.stringify(nested))).toEqual(nested);
});

test("a short list, and one elsewhere than in the member items, is read at once", () => {
  const long = Array.from({ length: 100 }, (_, n) => n);
  const bodies = [{ items: long.slice(0, 65) }, { more: { items: long } }, { other: long }, long];
  for (const body of bodies) expect(parseInput(JSON.stringify(body))).toEqual(body);
  expect(parseInput(JSON.stringify({ items: long }))).toEqual({ items: expect.any(LongList) });
});

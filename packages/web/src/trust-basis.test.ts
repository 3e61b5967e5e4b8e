import { describe, expect, test } from "vitest";
import { testAttestor, testHistory } from "../../../test/bundles/bundles.ts";
import {
  basisSentence,
  contradictionOf,
  historyAge,
  type KeyList,
  preferredList,
  statedBasis,
  writtenAt,
} from "./trust-basis.ts";

const NOW = Date.UTC(2026, 10, 22, 12);
const DAY = 86_400_000;
const [attestor, successor, stranger] = ["attestor", "next", "stranger"].map(testAttestor) as [
  ReturnType<typeof testAttestor>,
  ReturnType<typeof testAttestor>,
  ReturnType<typeof testAttestor>,
];

function list(basis: "origin" | "file", origin: string, ...keys: Parameters<typeof testHistory>[0] & object): KeyList {
  const history = testHistory(keys);
  const named =
    history.keys.length === 1 ? { ...history, keys: history.keys.map((key) => ({ ...key, origin })) } : history;
  return { history: named, basis: { basis, name: basis, since: NOW } };
}

const served = list("origin", "https://attestd.example", { attestor, fromRound: 1 });

describe("a key list that the reader gives beside the site's own", () => {
  test.each([
    ["https://attestd.example", true],
    ["http://attestd.example", true],
    ["https://ATTESTD.EXAMPLE:443", true],
    ["https://attestd.example.", true],
    ["https://attestd.example:8443", false],
    ["https://attestd.example.evil.example", false],
  ])("with another key, and origin %s, contradicts the site's: %s", (origin, contradicts) => {
    const given = list("file", origin, { attestor: stranger, fromRound: 1 });
    const trusted = preferredList(given, served);
    expect(trusted.history).toEqual(given.history);
    expect(contradictionOf(trusted, stranger.kid)?.why !== undefined).toBe(contradicts);
  });

  test("changes nothing when the site's list equals or continues it", () => {
    const given = list("file", "https://attestd.example", { attestor, fromRound: 1 });
    expect(preferredList(given, served)).toBe(served);
    const newer = list("origin", "", { attestor, fromRound: 1 }, { attestor: successor, fromRound: 9 });
    expect(preferredList(given, newer)).toBe(newer);
  });

  test("is doubted only for its new keys when it continues the site's", () => {
    const given = list("file", "", { attestor, fromRound: 1 }, { attestor: successor, fromRound: 9 });
    const trusted = preferredList(given, served);
    expect(contradictionOf(trusted, attestor.kid)).toBeUndefined();
    expect(contradictionOf(trusted, successor.kid)).toEqual({ host: "attestd.example", date: "2026-11-22" });
  });
});

test.each([
  ["dated last month", NOW - 31 * DAY, 31 * 86_400],
  ["dated by a clock that is a little ahead", NOW + 60_000, 0],
  ["dated next week", NOW + 7 * DAY, Number.POSITIVE_INFINITY],
])("the age of a file %s", (_, modified, age) => {
  const since = writtenAt(modified, NOW);
  expect(historyAge({ basis: "file", name: "keys.json", ...(since !== undefined && { since }) }, NOW)).toBe(age);
});

test("the sentence about a key list escapes and shortens the list's name", () => {
  const sentence = basisSentence({ basis: "file", name: `\u202e${"x".repeat(500)}.json`, since: NOW });
  expect(sentence).toMatch(/^Rests on the key list in \\u\{202e\}x+…x+\.json, written on 2026-11-22\.$/);
  expect(sentence.length).toBeLessThan(130);
});

test("statedBasis has basis, name and date", () => {
  expect(statedBasis({ basis: "origin", name: "attestd.example", since: NOW })).toEqual({
    basis: "origin",
    name: "attestd.example",
    date: "2026-11-22",
  });
  expect(statedBasis({ basis: "kid", name: "k" })).toEqual({ basis: "kid", name: "k" });
});

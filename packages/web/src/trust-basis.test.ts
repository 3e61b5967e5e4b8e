import { describe, expect, test } from "vitest";
import { testAttestor, testHistory } from "../../../test/bundles/bundles.ts";
import {
  basisSentence,
  doubtOf,
  givenBeside,
  historyAge,
  type KeyList,
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

describe("a list that was given beside the one of the site", () => {
  test.each([
    ["https://attestd.example", true],
    ["http://attestd.example", true],
    ["https://ATTESTD.EXAMPLE:443", true],
    ["https://attestd.example.", true],
    ["https://attestd.example:8443", false],
    ["https://attestd.example.evil.example", false],
  ])("as of %s contradicts it: %s", (origin, contradicts) => {
    const given = list("file", origin, { attestor: stranger, fromRound: 1 });
    const believed = givenBeside(given, served);
    expect(believed.history).toEqual(given.history);
    expect(doubtOf(believed, stranger.kid)?.why !== undefined).toBe(contradicts);
  });

  test("and is all that it says, or less, changes nothing", () => {
    const given = list("file", "https://attestd.example", { attestor, fromRound: 1 });
    expect(givenBeside(given, served)).toBe(served);
    const newer = list("origin", "", { attestor, fromRound: 1 }, { attestor: successor, fromRound: 9 });
    expect(givenBeside(given, newer)).toBe(newer);
  });

  test("and goes on from it is doubted for the keys that are new, and for no other", () => {
    const given = list("file", "", { attestor, fromRound: 1 }, { attestor: successor, fromRound: 9 });
    const believed = givenBeside(given, served);
    expect(doubtOf(believed, attestor.kid)).toBeUndefined();
    expect(doubtOf(believed, successor.kid)).toEqual({ host: "attestd.example", date: "2026-11-22" });
  });
});

test.each([
  ["of last month", NOW - 31 * DAY, 31 * 86_400],
  ["of a clock that is a little ahead", NOW + 60_000, 0],
  ["of next week", NOW + 7 * DAY, Number.POSITIVE_INFINITY],
])("a file %s is as old as that can be true", (_, modified, age) => {
  const since = writtenAt(modified, NOW);
  expect(historyAge({ basis: "file", name: "keys.json", ...(since !== undefined && { since }) }, NOW)).toBe(age);
});

test("a sentence names a list whatever its name is made of, and no more of it than fits a line", () => {
  const sentence = basisSentence({ basis: "file", name: `\u202e${"x".repeat(500)}.json`, since: NOW });
  expect(sentence).toMatch(/^Rests on the key list in \\u\{202e\}x+…x+\.json, written on 2026-11-22\.$/);
  expect(sentence.length).toBeLessThan(130);
});

test("a report for programs names basis, name and date", () => {
  expect(statedBasis({ basis: "origin", name: "attestd.example", since: NOW })).toEqual({
    basis: "origin",
    name: "attestd.example",
    date: "2026-11-22",
  });
  expect(statedBasis({ basis: "kid", name: "k" })).toEqual({ basis: "kid", name: "k" });
});

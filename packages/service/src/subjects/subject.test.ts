import { describe, expect, it } from "vitest";
import { type LongList, takeLongList } from "../catalogue/long-list.ts";
import { BlockRequest, InclusionRequest } from "../catalogue/schemas/requests.ts";
import type { ChainName } from "../chains/chain.ts";
import { attestSubject, blockSubject, inclusionSubject, longListSale, requestHash, type Subject } from "./subject.ts";

const BOTH = new Map<ChainName, unknown>([
  ["algorand", 1],
  ["base", 1],
]);
const ALGORAND_ID = `${"A".repeat(51)}Q`;
const BASE_ID = `0x${"ab".repeat(32)}`;

describe("a long list of ids", () => {
  const of = (count: number) => Array.from({ length: count }, () => BASE_ID);
  /** Makes a list that items without an id make long. */
  const listOf = (txids: readonly string[]) => {
    const items = [...txids.map((txid) => ({ txid })), ...Array.from({ length: 65 }, () => 0)];
    return takeLongList(JSON.stringify(items), 0)?.value as LongList;
  };

  it("is sold by its count and its chains", () => {
    expect(longListSale(listOf(of(70)), BOTH, 100)).toEqual({ chains: ["base"], items: 70 });
    expect(longListSale(listOf([...of(69), ALGORAND_ID]), BOTH, 100)).toEqual({
      chains: ["algorand", "base"],
      items: 70,
    });
  });

  it.each<[string, readonly string[], Map<ChainName, unknown>, object]>([
    ["one id", of(1), BOTH, { member: "items" }],
    ["an id too many", of(101), BOTH, { member: "items" }],
    ["an id of no chain's length", [...of(70), `${BASE_ID}0`], BOTH, { member: "items/70/txid" }],
    ["an id of no chain's first character", [...of(70), `1${BASE_ID.slice(1)}`], BOTH, { member: "items/70/txid" }],
    ["ids of a chain that is not attested here", of(70), new Map([["algorand", 1]]), { member: "items/0/txid" }],
  ])("has no price with %s", (_, txids, configured, details) => {
    expect(() => longListSale(listOf(txids), configured, 100)).toThrow(
      expect.objectContaining({ code: "request_unfit", details: expect.objectContaining(details) }),
    );
  });
});

describe("heights", () => {
  it.each([0, 7, 2 ** 53 - 1, "0", "7", "9007199254740991"])("%j is one", (height) => {
    expect(BlockRequest.parse({ chain: "base", height })).toEqual({ chain: "base", height: Number(height) });
    expect(InclusionRequest.parse({ chain: "base", txId: BASE_ID, height })).toMatchObject({ height: Number(height) });
  });

  it.each([
    -1,
    1.5,
    2 ** 53,
    "",
    "-1",
    "1.5",
    "1e3",
    "0x10",
    " 1",
    "01",
    "９",
    "9007199254740992",
    null,
    undefined,
    true,
    [1],
    {},
  ])("%j is none", (height) => {
    expect(BlockRequest.safeParse({ chain: "base", height }).success).toBe(false);
  });

  it.each([{ height: 1 }, { chain: "solana", height: 1 }, { chain: "base", height: 1, txid: "x" }])(
    "%j is no request",
    (body) => {
      expect(BlockRequest.safeParse(body).success).toBe(false);
    },
  );
});

describe("subjects", () => {
  it("are the same however a request spells them", () => {
    const hashes = (subjects: Subject[]) => new Set(subjects.map(requestHash)).size;
    const block = (height: number | string) => blockSubject(BlockRequest.parse({ chain: "base", height }), BOTH);
    expect(hashes([block(12), block("12")])).toBe(1);
    const inclusion = (txId: string, height: number) => inclusionSubject({ chain: "base", txId, height }, BOTH);
    expect(hashes([inclusion(BASE_ID, 1), inclusion(BASE_ID.toUpperCase().replace("0X", "0x"), 1)])).toBe(1);
  });

  it("differ by kind, chain, id and height", () => {
    const subjects = [
      attestSubject({ txid: BASE_ID }, BOTH),
      attestSubject({ txid: ALGORAND_ID }, BOTH),
      blockSubject({ chain: "base", height: 1 }, BOTH),
      blockSubject({ chain: "base", height: 2 }, BOTH),
      blockSubject({ chain: "algorand", height: 1 }, BOTH),
      inclusionSubject({ chain: "base", txId: BASE_ID, height: 1 }, BOTH),
      inclusionSubject({ chain: "base", txId: BASE_ID, height: 2 }, BOTH),
      inclusionSubject({ chain: "algorand", txId: ALGORAND_ID, height: 1 }, BOTH),
    ];
    expect(new Set(subjects.map(requestHash)).size).toBe(subjects.length);
  });

  it.each<[string, () => Subject, string]>([
    ["an id of no chain", () => inclusionSubject({ chain: "base", txId: "x", height: 1 }, BOTH), "txId"],
    ["an id of another chain", () => inclusionSubject({ chain: "base", txId: ALGORAND_ID, height: 1 }, BOTH), "txId"],
    ["a chain not configured", () => blockSubject({ chain: "base", height: 1 }, new Map([["algorand", 1]])), "chain"],
    [
      "a chain not configured, of an inclusion",
      () => inclusionSubject({ chain: "base", txId: BASE_ID, height: 1 }, new Map([["algorand", 1]])),
      "chain",
    ],
  ])("are not made of %s", (_, subject, member) => {
    expect(subject).toThrow(
      expect.objectContaining({ name: "ServiceError", code: "request_unfit", details: { member } }),
    );
  });
});

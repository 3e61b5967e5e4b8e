import { describe, expect, test } from "vitest";
import { entriesOf, ListError, transactionsOf } from "./id-list.ts";

/** Transactions of Base's block 46,000,000 and Algorand's round 46,581,204. */
const BASE = "0x5c504ed432cb51138bcf09aa5e8a410dd4a1e204ef84bfed1be16dfba1b22060";
const ALGORAND = "DNDZEGG6K5B4GV7VA3KWVJP3N5NPMGWCIB7P5R4W2ZOZSDNMQFHQ";
const read = (text: string) => transactionsOf(entriesOf(text));
const idsIn = (text: string) => {
  const { listed, faults } = read(text);
  expect(faults).toEqual([]);
  return listed.map(({ txid, line }) => [txid, line]);
};

describe("a pasted list", () => {
  test.each<[string, string, [string, number][]]>([
    [
      "a line each, some empty",
      `${BASE}\n\n  ${ALGORAND}\r\n`,
      [
        [BASE, 1],
        [ALGORAND, 3],
      ],
    ],
    [
      "in capitals",
      `${BASE.toUpperCase().replace("0X", "0x")}\n${ALGORAND}`,
      [
        [BASE, 1],
        [ALGORAND, 2],
      ],
    ],
    [
      "a table whose first line names the columns",
      `date,hash,sum\n2026-01-02,${BASE},"1,5"\n2026-01-03,${ALGORAND},2\n`,
      [
        [BASE, 2],
        [ALGORAND, 3],
      ],
    ],
    [
      "a table without names",
      `1;${BASE}\n2;${ALGORAND}`,
      [
        [BASE, 1],
        [ALGORAND, 2],
      ],
    ],
    [
      "a spreadsheet's cells, with its mark",
      `\u{feff}No.\tId\n1\t${BASE}\n2\t${ALGORAND}`,
      [
        [BASE, 2],
        [ALGORAND, 3],
      ],
    ],
    [
      "a table whose cells have lines",
      `what,"tx\nid"\n"a\nb",${BASE}\nc,${ALGORAND}`,
      [
        [BASE, 3],
        [ALGORAND, 5],
      ],
    ],
    ["a table with an empty cell", `a,b\n1,\n2,${BASE}`, [[BASE, 3]]],
  ])("is read: %s", (_, text, expected) => {
    expect(idsIn(text)).toEqual(expected);
  });

  test.each<[string, string, string[]]>([
    ["what is no id", `${BASE}\nhello`, ['line 2: "hello" is not a transaction id']],
    [
      "an id twice, in either spelling",
      `${BASE}\n${BASE.replace("5c50", "5C50")}`,
      ["line 2: the same transaction as in line 1"],
    ],
    ["nothing", "\n \n", ["there is no transaction id in it"]],
    ["a cell of the column that is no id", `id,x\n${BASE},1\nnone,2`, ['line 3: "none" is not a transaction id']],
  ])("has its faults named by line: %s", (_, text, faults) => {
    expect(read(text).faults).toEqual(faults);
  });

  test.each([
    ["no column of ids", "a,b\n1,2"],
    ["two of them", `from,to\n${BASE},${ALGORAND}`],
    ["a quote that does not end", `a,b\n"${BASE},1`],
  ])("is not guessed at: %s", (_, text) => {
    expect(() => entriesOf(text)).toThrow(ListError);
  });
});

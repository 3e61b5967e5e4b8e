import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseJson, parseKeyHistory } from "@attestd/proof";
import { judgeReceipt, receiptIn } from "@attestd/web/receipt-file";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { nativeCrypto } from "../../packages/proof/test/native-crypto.ts";
import { HISTORIES } from "./bundles/ingredients.ts";
import { ANSWER, ANSWERS_REFUSED, RECEIPTS } from "./bundles/receipts.ts";
import { saidOf } from "./library.ts";
import { PROGRAMS, type Program, runAll } from "./programs.ts";

/* Receipts and answers of batches: what the library, the command's reader and the programs say of them. */

const FILES = [...RECEIPTS, ...ANSWERS_REFUSED];
const trust = parseKeyHistory(HISTORIES.keys, nativeCrypto);

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "attestd-files-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

it.each(FILES)("the library says what is right: $name", ({ text, said }) => {
  expect(saidOf("FILE", Buffer.from(text), trust).split("\n")).toEqual(["FILE", ...said]);
});

it.each(RECEIPTS)("the reader of the command and the page concludes what is right: $name", ({ text, said }) => {
  const jws = receiptIn(parseJson(text));
  const conclusion = jws === undefined ? "failed" : judgeReceipt(jws, trust).conclusion;
  const right = said.at(-1) !== "not verified" ? "verified" : "failed";
  const words = said.find((line) => line.startsWith("key "))?.split(" ")[2];
  expect(conclusion).toBe(words === "unknown" || words === "revoked" ? words : right);
});

describe.each(Object.entries(PROGRAMS))("the verifier in %s", (language, find) => {
  let verifier: Program;
  beforeAll(async () => {
    verifier = await find(folder);
    if ("missing" in verifier) console.warn(`skipped: the verifier in ${language}: ${verifier.missing}`);
  });

  it("says of receipts, and of answers of batches, what is right", async ({ skip }) => {
    if ("missing" in verifier) return skip();
    const write = (name: string, text: string) => {
      writeFileSync(join(folder, name), text);
      return join(folder, name);
    };
    const keys = write("keys.json", JSON.stringify(HISTORIES.keys));
    const lists = FILES.map(({ text }, index) => [write(`${index}.json`, text), keys]);
    const { answers } = await runAll(verifier, lists);
    for (const [index, { name, said }] of FILES.entries()) {
      const { code, stdout } = answers[index] ?? {};
      expect([name, ...(stdout?.trimEnd().split("\n") ?? [])]).toEqual([name, lists[index]?.[0], ...said]);
      expect(code).toBe(said.at(-1) === "not verified" ? 1 : 0);
    }
  });

  it("judges each item of the answer of a batch by itself", async ({ skip }) => {
    if ("missing" in verifier) return skip();
    const write = (name: string, text: string) => {
      writeFileSync(join(folder, name), text);
      return join(folder, name);
    };
    const keys = write("keys.json", JSON.stringify(HISTORIES.keys));
    const [answer, ...items] = [ANSWER.text, ...ANSWER.items.map((item) => JSON.stringify(item))].map((text, index) =>
      write(`answer ${index}.json`, text),
    );
    const { answers } = await runAll(verifier, [
      [answer as string, keys],
      [...items, keys],
    ]);
    const [whole, alone] = answers.map(({ stdout }) => stdout);
    expect(whole?.replaceAll(/^.*answer 0\.json ([01])$/gm, "item $1")).toBe(
      alone?.replaceAll(/^.*answer ([12])\.json$/gm, (_, place) => `item ${Number(place) - 1}`),
    );
    expect(answers.map(({ code }) => code)).toEqual([0, 0]);
    expect(whole).toMatch(/^pass inclusion$/m);
  });
});

import { isProofError, verify } from "@attestd/proof";
import { fromUtf8, utf8 } from "@attestd/proof/encoding";
import { expect, test } from "vitest";
import { testBatch, testBatchItem } from "../../../test/bundles/batches.ts";
import { testBundle, testHistory } from "../../../test/bundles/bundles.ts";
import { bundlesInBatch } from "./batch-file.ts";
import { readFileContents } from "./bundle-file.ts";

const answer = testBatch();
const alone = answer.items.map((item) => ({ ...item, batch: answer.batch }));
const trust = testHistory();

async function bundlesIn(bytes: Uint8Array) {
  const contents = await readFileContents(bytes);
  return contents.kind === "batch" ? bundlesInBatch(contents.bytes) : undefined;
}

test.each([
  ["as it is delivered", JSON.stringify(answer), ["#/items/0", "#/items/1"]],
  ["set with spaces", JSON.stringify(answer, null, 2), ["#/items/0", "#/items/1"]],
  ["with its items first", JSON.stringify({ items: answer.items, batch: answer.batch }), ["#/items/0", "#/items/1"]],
  ["with a bundle a line", `${alone.map((item) => JSON.stringify(item)).join("\n")}\n`, [":1", ":2"]],
])("an answer %s has its bundles, each verified alone", async (_, text, places) => {
  const found = await bundlesIn(utf8(text));
  expect(found?.map(({ place }) => place)).toEqual(places);
  expect(found?.map(({ bytes }) => JSON.parse(fromUtf8(bytes)))).toEqual(alone);
  for (const { bytes } of found ?? []) expect(verify(bytes, { trust }).verified).toBe(true);
});

test("an answer that lacks an item, or is cut off, is not taken for a whole one", async () => {
  const text = JSON.stringify(answer);
  const lacking = JSON.stringify({ ...answer, items: answer.items.slice(1) });
  await expect(bundlesIn(utf8(lacking))).rejects.toSatisfy((error) => isProofError(error, "format"));
  await expect(bundlesIn(utf8(text.slice(0, -9)))).rejects.toSatisfy((error) => isProofError(error, "json"));
});

test("anything else has none: one bundle of a batch, another bundle, no text", async () => {
  for (const other of [testBatchItem(), testBundle(), { items: [1] }])
    expect(await bundlesIn(utf8(JSON.stringify(other)))).toBeUndefined();
  await expect(bundlesIn(new Uint8Array([0xff, 0xfe, 0x00]))).rejects.toSatisfy((error) => isProofError(error, "json"));
});

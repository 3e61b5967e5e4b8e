import { itemBundles, parseBatch } from "@attestd/proof";
import { utf8 } from "@attestd/proof/encoding";
import { batchForm, looseText } from "./bundle-file.ts";

/** A bundle in the answer of a batch: UTF-8, not yet verified, and what its file's name gets to name it. */
export type BundleInBatch = { place: string; bytes: Uint8Array };

/**
 * The bundles in the answer of a batch, for which `readFileContents` takes a file.
 *
 * @param answer UTF-8 of JSON that has the head once, or of a bundle a line (docs/format.md)
 * @returns in their order, with a JSON pointer or the line's number as its place
 * @throws ProofError `json` or `format` for an answer that is damaged, or lacks an item
 */
export function bundlesInBatch(answer: Uint8Array): [BundleInBatch, ...BundleInBatch[]] {
  const text = looseText(answer);
  const bundles =
    batchForm(text) === "lines"
      ? text
          .trimEnd()
          .split(/\r?\n/)
          .map((line, i) => ({ place: `:${i + 1}`, bytes: utf8(line) }))
      : itemBundles(parseBatch(answer)).map((item, i) => ({
          place: `#/items/${i}`,
          bytes: utf8(JSON.stringify(item)),
        }));
  return bundles as [BundleInBatch, ...BundleInBatch[]];
}

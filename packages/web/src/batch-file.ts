import { itemBundles, parseBatch } from "@attestd/proof";
import { utf8 } from "@attestd/proof/encoding";
import { batchForm, looseText } from "./bundle-file.ts";

/** A bundle from a batch's answer: unverified UTF-8, and the part of its file name that tells it apart. */
export type BundleInBatch = { place: string; bytes: Uint8Array };

/**
 * Returns the bundles in a batch's answer, as `readFileContents` recognizes one.
 * @param answer UTF-8: JSON that has the head once, or one bundle per line (docs/format.md)
 * @returns in order, each with a JSON pointer or the line's number as its place
 * @throws ProofError `json` or `format` for an answer that is damaged or lacks an item
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

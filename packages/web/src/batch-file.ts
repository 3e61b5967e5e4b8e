import { itemBundles, MAX_BATCH_BYTES, parseBatch } from "@attestd/proof";
import { utf8 } from "@attestd/proof/encoding";
import { looseText } from "./bundle-file.ts";

/** A bundle in the answer of a batch: UTF-8, not yet verified, and what its file's name gets to name it. */
export type BundleInBatch = { place: string; bytes: Uint8Array };

/** What every bundle of a batch has. */
const MARK = "batch-attestation";

/**
 * Finds the bundles in the answer of a batch (docs/format.md): JSON that has the head once, or a bundle a line.
 *
 * @returns in their order, with a JSON pointer or the line's number as its place; undefined for anything else
 * @throws ProofError `json` or `format` for an answer that is damaged, or lacks an item
 */
export function bundlesInBatch(bytes: Uint8Array): BundleInBatch[] | undefined {
  const text = bytes.length <= MAX_BATCH_BYTES ? looseText(bytes) : "";
  if (!text.includes(MARK)) return undefined;
  const lines = text.trimEnd().split(/\r?\n/);
  if (lines.length > 1 && lines.every((line) => line.startsWith("{") && line.endsWith("}") && line.includes(MARK)))
    return lines.map((line, i) => ({ place: `:${i + 1}`, bytes: utf8(line) }));
  if (!/"items"\s*:\s*\[/.test(text)) return undefined;
  return itemBundles(parseBatch(bytes)).map((item, i) => ({
    place: `#/items/${i}`,
    bytes: utf8(JSON.stringify(item)),
  }));
}

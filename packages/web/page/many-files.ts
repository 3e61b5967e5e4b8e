import { batchOf } from "@attestd/proof";
import { attempt } from "@attestd/proof/errors";
import { rowOf } from "../src/file-rows.ts";
import { receiptRow } from "../src/receipt-verdict.ts";
import { contradiction, isVerified } from "../src/verdict.ts";
import { UNREADABLE } from "../src/words.ts";
import { useBeside } from "./beside.ts";
import type { Checked } from "./check-file.ts";
import { filesInBatch, type GivenFile, MAX_FILES } from "./given-files.ts";
import type { Site } from "./site.ts";
import type { Row, WholeBatch } from "./table-view.ts";

/** The most bytes that are read at once of many files. */
const MAX_TOTAL_BYTES = 256 * 2 ** 20;

export type CheckedFiles = {
  rows: Row[];
  /** Whether evidence or a checkpoint was among them. */
  isLater: boolean;
  /** Whether there were more, in batches, than are checked at once. */
  leftOut: boolean;
};

/**
 * Checks files one after the other, and the bundles of a batch in its place; a key list, evidence or a checkpoint counts for
 * those after it.
 * @param by.check returns undefined when it was cancelled
 * @param by.progress gets how many were checked, and how many there are
 */
export async function checkFiles(
  site: Site,
  files: readonly GivenFile[],
  by: { check(file: GivenFile): Promise<Checked | undefined>; progress(done: number, of: number): void },
): Promise<CheckedFiles> {
  const found: CheckedFiles = { rows: [], isLater: false, leftOut: false };
  const queue = [...files];
  let bytes = 0;
  for (let done = 0; done < queue.length; done++) {
    by.progress(done, queue.length);
    const file = queue[done] as GivenFile;
    const { name, blob, within } = file;
    const given = { name, blob, ...(within && { within }) };
    bytes += blob.size;
    const checked: Checked | undefined =
      bytes > MAX_TOTAL_BYTES ? { kind: "unreadable", why: UNREADABLE.tooMany } : await by.check(file);
    switch (checked?.kind) {
      case undefined:
        return found;
      case "keys":
      case "evidence":
      case "stake":
        useBeside(site, checked, blob);
        found.isLater ||= checked.kind !== "keys";
        break;
      case "batch": {
        const inside = filesInBatch(file, checked);
        const room = MAX_FILES - (queue.length - 1);
        queue.splice(done + 1, 0, ...inside.slice(0, room));
        found.leftOut ||= inside.length > room;
        break;
      }
      case "judged":
        found.rows.push({ ...rowOf(name, checked.judged), ...given, ...itemOf(checked) });
        break;
      case "receipt":
        found.rows.push({ ...receiptRow(name, checked.receipt), ...given });
        break;
      case "unreadable":
        found.rows.push({ state: "unreadable", what: checked.why, when: "", ...given });
    }
  }
  return found;
}

/** A verified item of a batch, whose certificate can be made with the others'. */
function itemOf({ judged }: Extract<Checked, { kind: "judged" }>): Pick<Row, "item"> {
  const { bundle } = judged;
  const isGood = isVerified(judged) && contradiction(judged) === undefined && judged.keys?.basis.basis !== "example";
  return isGood && bundle && "batch" in bundle ? { item: { judged, bundle } } : {};
}

/** The batch whose items these rows are, all of them; undefined for other rows. */
export function wholeBatchOf(rows: readonly Row[]): WholeBatch | undefined {
  const items = rows.flatMap(({ item }) => item ?? []);
  const history = items[0]?.judged.keys?.history;
  if (history === undefined || items.length < rows.length) return undefined;
  const answer = attempt("format", () => batchOf(items.map(({ bundle }) => bundle)));
  return answer && { answer, judged: items.map(({ judged }) => judged), history };
}

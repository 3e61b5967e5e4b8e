import { extname } from "node:path";
import { type BatchItem, batchOf, bundleId } from "@attestd/proof";
import { utf8 } from "@attestd/proof/encoding";
import { makingOfBatch } from "@attestd/web";
import { EXIT, type ExitCode, Failure, worst } from "../../failure.ts";
import { nothingIn, type Source } from "../../files/sources.ts";
import { type Checked, checkSource, type Result } from "../../trust/check-file.ts";
import {
  checkedWithEvidence,
  EXTENSIONS,
  historyFor,
  INTO_FOLDER,
  judgedOf,
  type Making,
  type outputs,
  refusalOf,
  saveCertificate,
} from "./file.ts";

type Item = Checked & { bundle: BatchItem };

/**
 * Makes one certificate of each whole batch, with a table of its items. The items come from a batch's answer, or from files of
 * their own.
 *
 * @param names as the user wrote them
 * @param nameOutput made by `outputs`
 * @returns `unreachable` if the ledger could not be asked
 * @throws Failure `notVerified` for an item that is not verified; `usage` for a batch that lacks items; `unreadable`
 */
export async function batchCertificates(
  names: readonly string[],
  sources: readonly Source[],
  nameOutput: Awaited<ReturnType<typeof outputs>>,
  making: Making,
): Promise<ExitCode> {
  const { trusted, chains, options } = making;
  // Checked before anything is read.
  const history = good(historyFor(trusted));
  const batches = [...Map.groupBy(await itemsIn(sources, making), ({ bundle }) => bundleId(bundle.batch)).values()];
  if (batches.length === 0) throw nothingIn([...names], sources.length);
  if (batches.length > 1 && EXTENSIONS.includes(extname(options.out ?? "").toLowerCase()))
    throw new Failure(EXIT.usage, `--out is one file, and there are ${batches.length} batches`, [INTO_FOLDER]);
  const codes: ExitCode[] = [];
  for (const items of batches) {
    const [{ bundle, answer }] = items as [Item, ...Item[]];
    const { size, attest } = bundle.batch;
    const distinct = new Map(items.map((item) => [item.bundle.proof.index, item]));
    if (distinct.size < size)
      throw new Failure(
        EXIT.usage,
        `${distinct.size} of the ${size} items of the batch of round ${attest.round} are here`,
        ["Give all of them, or leave --whole out: each item has a certificate of its own."],
      );
    const all = [...distinct.values()].toSorted((a, b) => a.bundle.proof.index - b.bundle.proof.index);
    const first = good(await checkedWithEvidence(all[0] as Item, options));
    for (const item of [first, ...all]) good(refusalOf(item, making));
    const trouble = all.find(({ ledgerTrouble }) => ledgerTrouble !== undefined)?.ledgerTrouble;
    // The certificate makes one statement about the batch: if one item could not be compared, all count as checked offline.
    const checking = { trusted, chains: trouble === undefined ? chains : undefined };
    const judged = all.map((item) => judgedOf(item, history, checking));
    const stated = makingOfBatch(judged, new Date(), options.paper);
    const bytes = utf8(JSON.stringify(batchOf(all.map((item) => item.bundle))));
    const path = good(nameOutput({ name: answer ?? `batch-${attest.round}`, kind: "file" }));
    const content = { bytes, stated, evidence: first.evidence };
    codes.push(good(await saveCertificate(path, content, history, trouble, making)));
  }
  return worst(codes);
}

/** A certificate of a whole batch needs everything: a Failure ends the command. */
function good<T>(outcome: T | Failure): T {
  if (outcome instanceof Failure) throw outcome;
  return outcome;
}

/** Checks the items of batches in these files. @throws Failure for a named file that contains none */
async function itemsIn(sources: readonly Source[], making: Making): Promise<Item[]> {
  const items: Item[] = [];
  using working = making.environment.working("checking");
  for (const [index, source] of sources.entries()) {
    if (sources.length > 1) working.show(`${index + 1} of ${sources.length}`);
    for (const result of await checkSource(source, making)) {
      if (isItem(result)) items.push(result);
      else if (!source.isFound && result.kind !== "receipt") throw notAnItem(source.name, result);
    }
  }
  return items;
}

function isItem(result: Result): result is Item {
  return result.kind === "checked" && result.bundle !== undefined && "batch" in result.bundle;
}

function notAnItem(name: string, result: Exclude<Result, { kind: "receipt" }>): Failure {
  if (result.kind === "unreadable") return new Failure(result.exitCode, `can't read ${name}`, [result.why]);
  return new Failure(EXIT.usage, `${name} is not of a batch`, ["Leave --whole out: it has a certificate of its own."]);
}

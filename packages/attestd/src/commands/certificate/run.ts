import { extname } from "node:path";
import { aborted } from "node:util";
import { type BatchItem, batchOf, bundleId } from "@attestd/proof";
import { utf8 } from "@attestd/proof/encoding";
import { makingOf, makingOfBatch } from "@attestd/web";
import { EXIT, type ExitCode, Failure, worst } from "../../failure.ts";
import { nothingIn, type Source, sourcesOf } from "../../files/sources.ts";
import type { Environment } from "../../terminal/environment.ts";
import { chainCheck } from "../../trust/chain-check.ts";
import { type Checked, checkSource, type Result, trustedKeys } from "../../trust/check-file.ts";
import {
  type CertificateOptions,
  checkedWithEvidence,
  EXTENSIONS,
  historyFor,
  INTO_FOLDER,
  judgedOf,
  type Making,
  outputs,
  refusalOf,
  saveCertificate,
} from "./file.ts";

/**
 * Makes a certificate of each verified bundle, with a QR code for verifying it and the bundle inside. From the answer of a batch
 * it makes one for each item or, with `--whole`, one for the batch.
 *
 * @param names files, folders or URLs of bundles or certificates; `-` is standard input
 * @returns for several: not verified before usage before unreadable before unreachable
 * @throws Failure for a single one: `notVerified`; `usage` when no key history names the attestor
 */
export async function makeCertificates(
  names: string[],
  options: CertificateOptions,
  environment: Environment,
): Promise<ExitCode> {
  // A folder may already contain the certificates of its bundles.
  const sources = (await sourcesOf(names)).filter(({ name, isFound }) => !isFound || /\.json$/i.test(name));
  if (options.evidence !== undefined && sources.length > 1)
    throw new Failure(EXIT.usage, "--evidence is of one bundle", [
      "Put it beside each bundle: b.evidence.json of b.json.",
    ]);
  const nameOutput = await outputs(sources, options);
  const trusted = await trustedKeys(options);
  const chains = await chainCheck(options, trusted);
  const making: Making = { trusted, chains, options, environment };
  if (options.whole) return batchCertificates(names, sources, nameOutput, making);
  const { err, out } = environment;
  const stop = environment.stop();
  const interrupted = aborted(stop, stop);
  using working = environment.working(chains && "asking the chains");
  const codes: number[] = [];
  for (const source of sources) {
    if (sources.length > 1) working.show(`${codes.length + 1} of ${sources.length}`);
    const made = await Promise.race([makeFrom(source, nameOutput, making), interrupted]);
    if (stop.aborted) throw new Failure(EXIT.interrupted, "interrupted");
    if (made instanceof Failure) {
      if (sources.length === 1) throw made;
      codes.push(made.exitCode);
      err.line(`attestd: ${source.name}: ${made.message}`);
      for (const line of made.more) err.line(`  ${line}`);
    } else if (typeof made === "number") codes.push(made);
  }
  working.show(undefined);
  if (codes.length === 0) throw nothingIn(names, sources.length);
  if (sources.length > 1) {
    const saved = codes.filter((code) => code === EXIT.good || code === EXIT.unreachable).length;
    const failed = codes.length - saved;
    out.line(
      `${saved} ${saved === 1 ? "certificate" : "certificates"} saved${failed > 0 ? `, ${failed} not made` : ""}`,
    );
  }
  return worst(codes);
}

/** @returns undefined for a file of another kind in a folder */
async function makeFrom(
  source: Source,
  nameOutput: Awaited<ReturnType<typeof outputs>>,
  making: Making,
): Promise<ExitCode | Failure | undefined> {
  const [result, ...others] = await checkSource(source, making);
  if (others.length > 0) {
    const bundles = [result, ...others].filter((one) => one.kind === "checked");
    if (EXTENSIONS.includes(extname(making.options.out ?? "").toLowerCase()))
      return new Failure(EXIT.usage, `--out is one file, and the batch has ${bundles.length} bundles`, [INTO_FOLDER]);
    const codes: ExitCode[] = [];
    for (const bundle of bundles) {
      const made = await certify(bundle, nameOutput(source), making);
      if (made instanceof Failure) return made;
      codes.push(made);
    }
    return worst(codes);
  }
  if (result.kind === "unreadable") return new Failure(result.exitCode, `can't read ${source.name}`, [result.why]);
  if (result.kind === "other" || (result.kind === "receipt" && source.isFound)) return undefined;
  if (result.kind === "receipt")
    return new Failure(EXIT.unreadable, `can't read ${source.name}`, ["It is a receipt, not a bundle."]);
  return certify(result, nameOutput(source), making);
}

/** Makes the certificate of one bundle. */
async function certify(offline: Checked, path: string | Failure, making: Making): Promise<ExitCode | Failure> {
  if (path instanceof Failure) return path;
  const { options, trusted } = making;
  const result = await checkedWithEvidence(offline, options);
  if (result instanceof Failure) return result;
  const refusal = refusalOf(result, making);
  if (refusal) return refusal;
  const history = historyFor(trusted);
  if (history instanceof Failure) return history;
  const stated = makingOf(judgedOf(result, history, making), new Date(), options.paper);
  const { bytes, evidence, ledgerTrouble } = result;
  return saveCertificate(path, { bytes, stated, evidence }, history, ledgerTrouble, making);
}

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
async function batchCertificates(
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

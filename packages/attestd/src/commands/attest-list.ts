import { mkdir } from "node:fs/promises";
import { basename, join } from "node:path";
import {
  AttestError,
  attest,
  attestBatch,
  forgetPayment,
  formatUsdc,
  type Progress,
  parseUsdc,
  paymentId,
  quote,
  requestFor,
  type SignedReceipt,
} from "@attestd/client";
import { MAX_BATCH_ITEMS } from "@attestd/proof";
import { railLabel } from "@attestd/proof/rails";
import { withoutTrailing } from "@attestd/proof/text";
import type { Listed } from "@attestd/web/id-list";
import { receiptFile } from "@attestd/web/receipt-file";
import { attestFailure } from "../attest-failure.ts";
import { heldUntil, signatureLines } from "../attest-text.ts";
import { checkSource } from "../checked-file.ts";
import type { Environment } from "../environment.ts";
import { type ExportRow, exportRow } from "../export-rows.ts";
import { EXIT, type ExitCode, Failure, failsFor } from "../failure.ts";
import { writeWhole } from "../files.ts";
import { lockFile } from "../folder-lock.ts";
import { trustOptions } from "../keys-file.ts";
import { type ListState, noteRefused, readState, receiptName, writeState } from "../list-state.ts";
import { csvFile } from "./export.ts";
import { readList } from "./list-arguments.ts";
import { mayPay, type Parties, type PurchaseCommandOptions, parties } from "./purchase.ts";

export type AttestListOptions = Omit<PurchaseCommandOptions, "wait" | "evidence" | "json"> & {
  file: string;
  column?: string;
  batchSize?: number;
  yes?: boolean;
  require?: "succeeded";
};

/** One batch under way. */
type Part = Awaited<ReturnType<typeof priceParts>>[number];

const TABLE = "attestations.csv";

/**
 * Buys the attestations of a list of transactions, in batches, and saves a bundle for each and a table of all. Which batches
 * there are is saved before the first payment, and what a batch brought before its payment is forgotten: so the same command
 * goes on where it was, however the earlier one ended, and pays for nothing twice.
 *
 * @returns `notPaid` when some could not be attested, `notVerified` when a bundle is not verified
 */
export async function attestList(options: AttestListOptions, environment: Environment): Promise<ExitCode> {
  const { out, err } = environment;
  const signal = environment.stop();
  const listed = await readList(options.file, options.column, environment, signal);
  const all = await parties(options, environment);
  const folder =
    options.out ?? `${options.file === "-" ? "list" : basename(options.file).replace(/\.\w+$/, "")}-attested`;
  await mkdir(folder, { recursive: true }).catch(failsFor(EXIT.usage, `save into ${folder}`, "folder"));
  using _lock = lockFile(join(folder, ".attest.lock"), `another process attests into ${folder}`, "Wait for it.");
  const service = withoutTrailing(all.service, "/");
  const ids = listed.map(({ txid }) => txid);
  const state = readState({ folder, service, require: options.require, ids });
  state.pending = await givenUp(state, ids, service, all);
  const known = new Set([...Object.keys(state.done), ...state.pending.flat()]);
  const fresh = ids.filter((txid) => !known.has(txid));
  const parts = [...state.pending, ...split(fresh, options.batchSize ?? MAX_BATCH_ITEMS)];
  const total = listed.length;
  const doneOf = () => listed.filter(({ txid }) => Object.hasOwn(state.done, txid)).length;
  if (doneOf() > 0) out.line(`  going on   ${doneOf()} of ${total} are done`);

  using working = environment.working("asking for the price");
  const refused = new Map<string, string>();
  let kept = 0;
  try {
    const priced = await priceParts(parts, options, all, service, signal);
    let left = await agreeOnPrice(priced, options, environment, signal, () => working.show(undefined));
    const progress = signatureLines(out, (amount) => (left -= amount));
    state.pending = parts;
    state.require = options.require;
    await writeState(folder, state);
    for (const [n, part] of priced.entries()) {
      working.show(`batch ${n + 1} of ${priced.length}: ${doneOf()} done, ${total - doneOf()} left`);
      const { codes, until = 0 } = await buyPart(part, left, folder, state, options, all, signal, progress);
      for (const [txid, code] of codes) refused.set(txid, code);
      kept = Math.max(kept, until);
      if (codes.size > 0) {
        noteRefused(state, ids, [...codes.keys()]);
        await writeState(folder, state);
      }
      if (codes.size === 0) out.marked("ok", `${doneOf()} of ${total}`, 2);
    }
  } catch (error) {
    throw attestFailure(error, all);
  }
  working.show("writing the table");
  const verdicts = await writeTable(listed, refused, folder, state, all, environment);
  working.show(undefined);
  out.marked("ok", `Saved ${doneOf()} bundles and ${TABLE} in ${folder}`);
  if (refused.size === 0) return verdicts.every(Boolean) ? EXIT.good : EXIT.notVerified;
  err.line("attestd: some batches were not bought: the service says that these can't be attested");
  for (const { txid, line } of listed.filter((one) => refused.has(one.txid)))
    err.line(`  line ${line}: ${txid}: ${refused.get(txid)}`);
  if (kept > 0) err.line(`  A payment for them is signed: ${heldUntil(kept)}.`);
  err.line("  Take them out of the list, and run the same command again: it buys the others.");
  return EXIT.notPaid;
}

/**
 * The parts that are bought on: those with a transaction that was taken out of the list are given up.
 * @throws Failure while the payment of such a part can be taken
 */
async function givenUp(state: ListState, listed: readonly string[], service: string, { vault }: Parties) {
  const wanted = new Set(listed);
  const kept: string[][] = [];
  for (const ids of state.pending) {
    const isWhole = ids.every((txid) => wanted.has(txid));
    const until = isWhole ? undefined : await forgetPayment({ service, vault }, requestFor(ids, state.require));
    if (until !== undefined)
      throw new Failure(EXIT.notPaid, "not paid: there is a signed payment for a part of this list", [
        `${heldUntil(until)}.`.replace(/^i/, "I"),
        "Run the same command again then.",
      ]);
    if (isWhole) kept.push(ids);
  }
  return kept;
}

/** Parts of nearly the same size, so that none has a single transaction where that can be avoided. */
function split(ids: readonly string[], size: number): string[][] {
  const count = Math.ceil(ids.length / size);
  return Array.from({ length: count }, (_, n) =>
    ids.slice(Math.round((n * ids.length) / count), Math.round(((n + 1) * ids.length) / count)),
  );
}

/** What each part costs; a part whose payment is in the vault already was agreed on. */
async function priceParts(
  parts: readonly string[][],
  { require }: AttestListOptions,
  { wallet, vault }: Parties,
  service: string,
  signal: AbortSignal,
) {
  const priced = [];
  for (const ids of parts) {
    const request = requestFor(ids, require);
    const stored = await vault.get(paymentId(service, request));
    const asked = stored?.offer ?? (await quote({ service, wallet, signal }, request));
    const rail = railLabel(asked.network);
    priced.push({ ids, request, maxPrice: BigInt(asked.amount), isAgreed: stored !== undefined, rail });
  }
  return priced;
}

/**
 * Asks once, for all that is not paid yet, where it is more than `--max-price`.
 * @returns micro-USDC that may be signed
 */
async function agreeOnPrice(
  parts: readonly Part[],
  { maxPrice, yes }: AttestListOptions,
  environment: Environment,
  signal: AbortSignal,
  hide: () => void,
): Promise<bigint> {
  const unpaid = parts.filter(({ isAgreed }) => !isAgreed);
  const allowed = parseUsdc(maxPrice);
  if (unpaid.length === 0) return allowed;
  const sum = unpaid.reduce((all, part) => all + part.maxPrice, 0n);
  const count = unpaid.reduce((all, { ids }) => all + ids.length, 0);
  const rails = [...new Set(unpaid.map(({ rail }) => rail))].join(" and ");
  hide();
  environment.out.line(
    `  price      ${formatUsdc(sum)} USDC on ${rails}: ${count} transactions, ${unpaid.length} payments`,
  );
  if (sum <= allowed) return allowed;
  if (yes || (await mayPay(environment, `That is more than the ${maxPrice} allowed. Pay it?`, signal))) return sum;
  throw new Failure(EXIT.notPaid, "not paid", [`Allow it with --yes, or --max-price ${formatUsdc(sum)}.`]);
}

/**
 * Buys one part and saves it.
 * @param left micro-USDC that may be signed
 * @returns why which items cannot be attested, by id, and until when the payment for them can be taken still
 */
async function buyPart(
  { ids, request, maxPrice }: Part,
  left: bigint,
  folder: string,
  state: ListState,
  { require }: AttestListOptions,
  { service, wallet, vault, trusted }: Parties,
  signal: AbortSignal,
  onProgress: (progress: Progress) => void,
): Promise<{ codes: Map<string, string>; until?: number | undefined }> {
  const save = async (bought: readonly { bundleBytes: Uint8Array }[], receipt: SignedReceipt | undefined) => {
    const [first = ""] = ids;
    const name = receipt ? receiptName(first) : "";
    if (receipt) await writeWhole(join(folder, name), receiptFile(receipt.jws), 0o666);
    for (const [index, txid] of ids.entries())
      await writeWhole(join(folder, `${txid}.json`), bought[index]?.bundleBytes as Uint8Array, 0o666);
    // Before the payment is forgotten: what is done is not bought again.
    for (const txid of ids) state.done[txid] = name;
    state.pending = state.pending.filter((one) => one[0] !== first);
    await writeState(folder, state);
  };
  const most = formatUsdc(left < maxPrice ? left : maxPrice);
  const common = { service, wallet, vault, signal, onProgress, maxPrice: most, ...trustOptions(trusted) };
  const wanted = { ...common, ...(require && { require }) };
  try {
    if (request.path === "/attest")
      await attest({
        ...wanted,
        txid: request.body.txid,
        save: (attestation) => save([attestation], attestation.signedReceipt),
      });
    else
      await attestBatch({
        ...wanted,
        items: ids.map((txid) => ({ txid })),
        save: ({ items, signedReceipt }) => save(items, signedReceipt),
      });
    return { codes: new Map() };
  } catch (error) {
    const faults = error instanceof AttestError && error.code === "refused" ? error.problem?.items : undefined;
    if (!faults || faults.length === 0) throw error;
    const codes = new Map(faults.flatMap(({ index, code }) => (ids[index] === undefined ? [] : [[ids[index], code]])));
    // While its payment can be taken, the part stays: what is in it is not bought by another.
    const until = await forgetPayment({ service, vault }, request);
    if (until !== undefined) return { codes, until };
    state.pending = state.pending.filter((one) => one[0] !== ids[0]);
    await writeState(folder, state);
    return { codes };
  }
}

/** Checks every file that was saved and writes the table, in the order of the list. @returns whether each is verified */
async function writeTable(
  listed: readonly Listed[],
  refused: ReadonlyMap<string, string>,
  folder: string,
  { done }: ListState,
  { trusted }: Parties,
  environment: Environment,
): Promise<boolean[]> {
  const rows: ExportRow[] = [];
  const verdicts: boolean[] = [];
  const check = async (name: string) => {
    const source = { name: join(folder, name), kind: "file", isFound: false } as const;
    const [result] = await checkSource(source, { trusted, chains: undefined, environment });
    return result;
  };
  const payments = new Map<string, ExportRow>();
  for (const { txid } of listed) {
    const receipt = done[txid];
    if (receipt === undefined) {
      rows.push({
        verdict: "Not attested",
        remarks: refused.get(txid) ?? "its batch was not bought",
        transaction: txid,
      });
      continue;
    }
    if (receipt !== "" && !payments.has(receipt)) payments.set(receipt, exportRow(await check(receipt), trusted));
    const { paid_on, paid_by, payment } = payments.get(receipt) ?? {};
    const result = await check(`${txid}.json`);
    verdicts.push(result.kind === "checked" && result.report.verified);
    rows.push({ ...exportRow(result, trusted), paid_on, paid_by, payment });
  }
  await writeWhole(join(folder, TABLE), csvFile(rows), 0o644);
  return verdicts;
}

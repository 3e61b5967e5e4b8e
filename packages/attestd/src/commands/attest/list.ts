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
import { receiptFile } from "@attestd/web/receipt-file";
import { EXIT, type ExitCode, Failure, failsFor } from "../../failure.ts";
import { writeAtomically } from "../../files/files.ts";
import { lockFile } from "../../files/folder-lock.ts";
import type { PurchaseOptions } from "../../options.ts";
import type { Environment } from "../../terminal/environment.ts";
import { trustOptions } from "../../trust/keys.ts";
import { readList } from "./list-arguments.ts";
import { type ListState, noteRefused, readState, receiptName, TABLE, writeState, writeTable } from "./list-folder.ts";
import { type Parties, parties } from "./parties.ts";
import { attestFailure, heldUntil, interrupted, signatureLines } from "./text.ts";

export type AttestListOptions = Omit<PurchaseOptions, "wait" | "evidence" | "json"> & {
  file: string;
  column?: string;
  batchSize?: number;
  require?: "succeeded";
};

/** A batch to be bought, with its price. */
type Part = Awaited<ReturnType<typeof priceParts>>[number];

/**
 * Buys the attestations of a list of transactions, in batches, and saves a bundle for each and a table of all. The batches are
 * saved before the first payment, and the bundles of a batch before its payment is forgotten. So the same command continues
 * however the earlier one ended, and pays for nothing twice.
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
  const state = readState(folder, service, options.require, ids);
  state.pending = await withoutRemoved(state, ids, service, all);
  const known = new Set([...Object.keys(state.done), ...state.pending.flat()]);
  const fresh = ids.filter((txid) => !known.has(txid));
  const parts = [...state.pending, ...split(fresh, options.batchSize ?? MAX_BATCH_ITEMS)];
  const total = listed.length;
  const countDone = () => listed.filter(({ txid }) => Object.hasOwn(state.done, txid)).length;
  if (countDone() > 0) out.line(`  resuming   ${countDone()} of ${total} are done`);

  using working = environment.working("asking for the price");
  const refused = new Map<string, string>();
  let kept = 0;
  try {
    const priced = await priceParts(parts, options, all, service, signal);
    working.show(undefined);
    let left = await agreeOnPrice(priced, options, environment, signal);
    const progress = signatureLines(out, (amount) => (left -= amount));
    state.pending = parts;
    state.require = options.require;
    await writeState(folder, state);
    for (const [n, part] of priced.entries()) {
      working.show(`batch ${n + 1} of ${priced.length}: ${countDone()} done, ${total - countDone()} left`);
      const { codes, until = 0 } = await buyPart(part, left, folder, state, options, all, signal, progress);
      for (const [txid, code] of codes) refused.set(txid, code);
      kept = Math.max(kept, until);
      if (codes.size === 0) out.marked("ok", `${countDone()} of ${total}`, 2);
      else {
        noteRefused(state, ids, [...codes.keys()]);
        await writeState(folder, state);
      }
    }
  } catch (error) {
    throw attestFailure(error, all);
  }
  working.show("writing the table");
  const areVerified = await writeTable({ listed, refused, folder, state, trusted: all.trusted }, environment);
  working.show(undefined);
  out.marked("ok", `Saved ${countDone()} bundles and ${TABLE} in ${folder}`);
  if (refused.size === 0) return areVerified ? EXIT.good : EXIT.notVerified;
  err.line("attestd: some batches were not bought: the service says that these can't be attested");
  for (const { txid, line } of listed.filter((one) => refused.has(one.txid)))
    err.line(`  line ${line}: ${txid}: ${refused.get(txid)}`);
  if (kept > 0) err.line(`  A payment for them is signed: ${heldUntil(kept)}.`);
  err.line("  Take them out of the list, and run the same command again: it buys the others.");
  return EXIT.notPaid;
}

/**
 * Returns the pending batches without those that contain a transaction that was taken out of the list since.
 * @throws Failure while the payment of such a batch can be taken
 */
async function withoutRemoved(state: ListState, listed: readonly string[], service: string, { vault }: Parties) {
  const wanted = new Set(listed);
  const kept: string[][] = [];
  for (const ids of state.pending) {
    if (ids.every((txid) => wanted.has(txid))) {
      kept.push(ids);
      continue;
    }
    const until = await forgetPayment({ service, vault }, requestFor(ids, state.require));
    if (until !== undefined)
      throw new Failure(EXIT.notPaid, "not paid: there is a signed payment for a part of this list", [
        `${heldUntil(until)}.`.replace(/^i/, "I"),
        "Run the same command again then.",
      ]);
  }
  return kept;
}

/** Divides ids into parts of nearly the same size, so that none has a single transaction where that can be avoided. */
function split(ids: readonly string[], size: number): string[][] {
  const count = Math.ceil(ids.length / size);
  return Array.from({ length: count }, (_, n) =>
    ids.slice(Math.round((n * ids.length) / count), Math.round(((n + 1) * ids.length) / count)),
  );
}

/** Finds the price of each part. A part whose payment is in the vault was agreed on by an earlier run. */
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
 * Asks once for the sum of everything that is not paid yet, if it is more than `--max-price`.
 * @returns micro-USDC that may be signed
 */
async function agreeOnPrice(
  parts: readonly Part[],
  { maxPrice }: AttestListOptions,
  environment: Environment,
  signal: AbortSignal,
): Promise<bigint> {
  const unpaid = parts.filter(({ isAgreed }) => !isAgreed);
  const allowed = parseUsdc(maxPrice);
  if (unpaid.length === 0) return allowed;
  const sum = unpaid.reduce((all, part) => all + part.maxPrice, 0n);
  const count = unpaid.reduce((all, { ids }) => all + ids.length, 0);
  const rails = [...new Set(unpaid.map(({ rail }) => rail))].join(" and ");
  environment.out.line(
    `  price      ${formatUsdc(sum)} USDC on ${rails}: ${count} transactions, ${unpaid.length} payments`,
  );
  if (sum <= allowed) return allowed;
  const answer = await environment.ask(`That is more than the ${maxPrice} allowed. Pay it?`, signal);
  if (answer === "yes") return sum;
  if (answer === "interrupted") throw interrupted(0n);
  throw new Failure(EXIT.notPaid, "not paid", [`Allow it with --max-price ${formatUsdc(sum)}.`]);
}

/**
 * Buys one part and saves it.
 * @param left micro-USDC that may be signed
 * @returns why items cannot be attested, by id; and until when the payment for them can still be taken
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
    if (receipt) await writeAtomically(join(folder, name), receiptFile(receipt.jws), 0o666);
    for (const [index, txid] of ids.entries())
      await writeAtomically(join(folder, `${txid}.json`), bought[index]?.bundleBytes as Uint8Array, 0o666);
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
    // While its payment can be taken, the part stays pending, so that no other payment buys its transactions.
    const until = await forgetPayment({ service, vault }, request);
    if (until !== undefined) return { codes, until };
    state.pending = state.pending.filter((one) => one[0] !== ids[0]);
    await writeState(folder, state);
    return { codes };
  }
}

import { createHash } from "node:crypto";
import { join } from "node:path";
import { matchTransactionId } from "@attestd/proof";
import type { Listed } from "@attestd/web/id-list";
import { EXIT, Failure, failsFor } from "../../failure.ts";
import { foundJsonObject, writeAtomically } from "../../files/files.ts";
import { sourceOf } from "../../files/sources.ts";
import type { Environment } from "../../terminal/environment.ts";
import { checkSource } from "../../trust/check-file.ts";
import type { TrustedKeys } from "../../trust/keys.ts";
import { csvFile, type ExportRow, exportRow } from "../export/run.ts";

/** The state of a list in its folder: the batches whose payment may be under way, and the transactions whose bundle is saved. */
export type ListState = {
  version: 1;
  service: string;
  /** `listHash` of the list without the refused ids. */
  list: string;
  /** The ids that the service could not attest. They may be taken out of the list, or tried again. */
  refused: string[];
  /** The condition of the pending batches: with another one, the request and thus the payment would be another. */
  require?: "succeeded" | undefined;
  pending: string[][];
  /** By the id of a saved bundle, the name of its receipt's file in the folder; "" if the service sent no receipt. */
  done: Record<string, string>;
};

const NAME = ".attest.json";
/** The state of 100,000 ids needs a third of this. */
const MAX_BYTES = 64 * 2 ** 20;

/**
 * Reads the state of a list from its folder, or begins a new one. The folder may have come from anyone: its state counts only
 * for this list, and must not name anything else to buy.
 *
 * @param ids all ids of the list
 * @throws Failure `usage` when the state belongs to another purchase; `unreadable` when the file is not a state
 */
export function readState(
  folder: string,
  service: string,
  require: ListState["require"],
  ids: readonly string[],
): ListState {
  const path = join(folder, NAME);
  const state = foundJsonObject(path, MAX_BYTES);
  if (state === undefined) return { version: 1, service, list: listHash(ids, []), refused: [], pending: [], done: {} };
  if (!isState(state))
    throw new Failure(EXIT.unreadable, `can't read ${path}`, [
      "It is not the state of a list, as this command writes it.",
    ]);
  const other = "Choose another folder: --out.";
  if (state.service !== service)
    throw new Failure(EXIT.usage, `${folder} has attestations of ${state.service}`, [other]);
  if (state.list !== listHash(ids, state.refused))
    throw new Failure(EXIT.usage, `${folder} was begun with another list`, [
      "Run it with that list; only what could not be attested may be taken out.",
      other,
    ]);
  const known = [...Object.keys(state.done), ...state.pending.flat()];
  // A batch with a refused transaction stays pending until its payment can no longer be taken.
  const listed = new Set([...ids, ...state.refused]);
  const surplus = known.find((id) => !listed.has(id));
  if (surplus !== undefined || new Set(known).size < known.length)
    throw new Failure(EXIT.usage, `${path} would buy more than the list holds`, [
      surplus === undefined ? "It names a transaction twice." : `${surplus} is not in the list.`,
      other,
    ]);
  if (state.pending.length > 0 && state.require !== require)
    throw new Failure(EXIT.usage, `${folder} was begun ${state.require ? "with" : "without"} --require succeeded`, [
      "Run it with the same condition until it is done.",
    ]);
  return state;
}

/** Adds ids that the service cannot attest to the state. */
export function noteRefused(state: ListState, ids: readonly string[], refused: readonly string[]): void {
  state.refused = [...new Set([...state.refused, ...refused])];
  state.list = listHash(ids, state.refused);
}

/** Writes the state atomically. @throws Failure */
export function writeState(folder: string, state: ListState): Promise<void> {
  const failure = failsFor(EXIT.usage, `save into ${folder}`, "folder");
  return writeAtomically(join(folder, NAME), JSON.stringify(state), 0o600).catch(failure);
}

/** SHA-256, in hex, of the ids without the refused ones: sorted, one a line. */
function listHash(ids: readonly string[], refused: readonly string[]): string {
  const without = new Set(refused);
  const lines = ids.filter((id) => !without.has(id)).toSorted();
  return createHash("sha256").update(lines.join("\n")).digest("hex");
}

function isState(value: Record<string, unknown>): value is ListState {
  const { version, service, list, refused, require, pending, done } = value as Partial<ListState>;
  return (
    version === 1 &&
    typeof service === "string" &&
    typeof list === "string" &&
    isIds(refused) &&
    (require === undefined || require === "succeeded") &&
    Array.isArray(pending) &&
    pending.every((batch) => isIds(batch) && batch.length > 0) &&
    typeof done === "object" &&
    done !== null &&
    isIds(Object.keys(done)) &&
    Object.values(done).every((name) => name === "" || isReceiptName(name))
  );
}

function isIds(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((id) => typeof id === "string" && matchTransactionId(id)?.id === id);
}

/** The name of the file with a payment's receipt. @param first the first id of the batch */
export function receiptName(first: string): string {
  return `payment-${first}.receipt.json`;
}

/** Whether a name is made by `receiptName`. Any other could lead out of the folder. */
function isReceiptName(name: unknown): boolean {
  const [, first = ""] = typeof name === "string" ? (/^payment-(\w+)\.receipt\.json$/.exec(name) ?? []) : [];
  return isIds([first]);
}

export const TABLE = "attestations.csv";

type Bought = {
  listed: readonly Listed[];
  /** Why transactions could not be attested, by id. */
  refused: ReadonlyMap<string, string>;
  folder: string;
  state: ListState;
  trusted: TrustedKeys | undefined;
};

/** Checks every file that was saved, and writes the table in the order of the list. @returns whether all are verified */
export async function writeTable(
  { listed, refused, folder, state: { done }, trusted }: Bought,
  environment: Environment,
): Promise<boolean> {
  const rows: ExportRow[] = [];
  let areVerified = true;
  const check = async (name: string) => {
    const [result] = await checkSource(sourceOf(join(folder, name)), { trusted, chains: undefined, environment });
    return result;
  };
  const payments = new Map<string, ExportRow>();
  for (const { txid } of listed) {
    const receipt = done[txid];
    if (receipt === undefined) {
      const remarks = refused.get(txid) ?? "its batch was not bought";
      rows.push({ verdict: "Not attested", remarks, transaction: txid });
      continue;
    }
    if (receipt !== "" && !payments.has(receipt)) payments.set(receipt, exportRow(await check(receipt), trusted));
    const { paid_on, paid_by, payment } = payments.get(receipt) ?? {};
    const result = await check(`${txid}.json`);
    areVerified &&= result.kind === "checked" && result.report.verified;
    rows.push({ ...exportRow(result, trusted), paid_on, paid_by, payment });
  }
  await writeAtomically(join(folder, TABLE), csvFile(rows), 0o644);
  return areVerified;
}

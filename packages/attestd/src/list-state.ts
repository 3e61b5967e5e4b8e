import { createHash } from "node:crypto";
import { join } from "node:path";
import { matchTransactionId } from "@attestd/proof";
import { EXIT, Failure, failsFor } from "./failure.ts";
import { foundJsonObject, writeWhole } from "./files.ts";

/** What a folder has of a list: batches whose payment may be under way, and what is saved, by id, with its payment's receipt. */
export type ListState = {
  version: 1;
  service: string;
  /** `listHash` of the list without what is refused. */
  list: string;
  /** Ids that the service could not attest. They may be taken out of the list, or tried again. */
  refused: string[];
  /** Of the pending ones: another condition is another request, and thus another payment. */
  require?: "succeeded" | undefined;
  pending: string[][];
  /** The name of the receipt's file in the folder; "" where the service sent none. */
  done: Record<string, string>;
};

const NAME = ".attest.json";
/** A list of 100,000 ids needs a third of it. */
const MAX_BYTES = 64 * 2 ** 20;

/** A list of transactions to attest: where it is saved, by whom and on which condition. */
export type ListOrder = {
  folder: string;
  service: string;
  require: ListState["require"];
  /** All ids of the list. */
  ids: readonly string[];
};

/**
 * Reads what a folder has of a list; nothing yet, where there is no state. The folder may have come from anyone: its state
 * counts only for this list, and names nothing else to buy.
 *
 * @throws Failure `usage` when it belongs to another purchase; `unreadable` when it is no state
 */
export function readState({ folder, service, require, ids }: ListOrder): ListState {
  const path = join(folder, NAME);
  const state = foundJsonObject(path, MAX_BYTES);
  if (state === undefined) return { version: 1, service, list: listHash(ids, []), refused: [], pending: [], done: {} };
  if (!isState(state)) throw new Failure(EXIT.unreadable, `can't read ${path}`, ["It is not a state of this command."]);
  const other = "Choose another folder: --out.";
  if (state.service !== service)
    throw new Failure(EXIT.usage, `${folder} has attestations of ${state.service}`, [other]);
  if (state.list !== listHash(ids, state.refused))
    throw new Failure(EXIT.usage, `${folder} was begun with another list`, [
      "Run it with that list; only what could not be attested may be taken out.",
      other,
    ]);
  const known = [...Object.keys(state.done), ...state.pending.flat()];
  // A batch with what was refused waits until its payment can no longer be taken; it is given up then.
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

/** Notes ids that the service cannot attest. */
export function noteRefused(state: ListState, ids: readonly string[], refused: readonly string[]): void {
  state.refused = [...new Set([...state.refused, ...refused])];
  state.list = listHash(ids, state.refused);
}

/** Writes the state, whole. @throws Failure */
export function writeState(folder: string, state: ListState): Promise<void> {
  const failure = failsFor(EXIT.usage, `save into ${folder}`, "folder");
  return writeWhole(join(folder, NAME), JSON.stringify(state), 0o600).catch(failure);
}

/** SHA-256, hex, of the ids but the refused ones, sorted, a line each. */
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

/** The file of a payment's receipt, by the first id of its batch. */
export function receiptName(first: string): string {
  return `payment-${first}.receipt.json`;
}

/** Another name could lead out of the folder. */
function isReceiptName(name: unknown): boolean {
  const [, first = ""] = typeof name === "string" ? (/^payment-(\w+)\.receipt\.json$/.exec(name) ?? []) : [];
  return isIds([first]);
}

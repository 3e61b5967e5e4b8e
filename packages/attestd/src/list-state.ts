import { existsSync } from "node:fs";
import { join } from "node:path";
import { EXIT, Failure, failsFor } from "./failure.ts";
import { readJsonObject, writeWhole } from "./files.ts";

/** What a folder has: batches whose payment may be under way, and what is saved, by id, with its payment's receipt. */
export type ListState = {
  version: 1;
  service: string;
  /** Of the pending ones: another condition is another request, and thus another payment. */
  require?: "succeeded" | undefined;
  pending: string[][];
  done: Record<string, string>;
};

/** Reads what a folder has; nothing yet, where there is no state. @throws Failure when it belongs to another purchase */
export async function readState(folder: string, service: string, require: ListState["require"]): Promise<ListState> {
  const path = join(folder, ".attest.json");
  if (!existsSync(path)) return { version: 1, service, pending: [], done: {} };
  const state = (await readJsonObject(path)) as ListState;
  if (state.version !== 1 || !Array.isArray(state.pending) || typeof state.done !== "object")
    throw new Failure(EXIT.unreadable, `can't read ${path}`, ["It is not a state of this command."]);
  if (state.pending.length > 0 && state.require !== require)
    throw new Failure(EXIT.usage, `${folder} was begun ${state.require ? "with" : "without"} --require succeeded`, [
      "Run it with the same condition until it is done.",
    ]);
  if (state.service === service) return state;
  throw new Failure(EXIT.usage, `${folder} has attestations of ${state.service}`, ["Choose another folder: --out."]);
}

/** Writes the state, whole. @throws Failure */
export function writeState(folder: string, state: ListState): Promise<void> {
  const failure = failsFor(EXIT.usage, `save into ${folder}`, "folder");
  return writeWhole(join(folder, ".attest.json"), JSON.stringify(state), 0o600).catch(failure);
}

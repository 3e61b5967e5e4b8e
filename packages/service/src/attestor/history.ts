import { isProofError, type KeyEntry, type KeyHistory, parseKeyHistory } from "@attestd/proof";
import { configInvalid } from "../config/config.ts";
import { nativeCrypto } from "../lib/crypto/crypto.ts";
import type { Signer } from "../signers/signer.ts";
import type { KeyJournal, KeyRecord, KeyRevocation } from "./key-journal.ts";

/** The key history, and the record that is being added to it. */
export type KeyView = { history: KeyHistory; announced: KeyRecord | undefined };

/** Completes the history as it is served: adds the end of each entry, where the next begins, and the revocations. */
function drawHistory(ledger: string, entries: readonly KeyEntry[], revocations: readonly KeyRevocation[]): KeyHistory {
  const keys = entries.map((entry, index): KeyEntry => {
    const untilRound = entries[index + 1]?.fromRound;
    const revokedRound = revocations.find(({ kid }) => kid === entry.kid)?.revokedRound;
    return {
      ...entry,
      ...(untilRound !== undefined && { untilRound }),
      ...(revokedRound !== undefined && { revokedRound }),
    };
  });
  return { version: 1, ledger, keys };
}

/**
 * Reads the key history from a journal. The service, the audit and the commands all MUST read it here: stored entries
 * lack `untilRound` and `revokedRound`, and without these an old key would stay valid for ever.
 * @param ledger CAIP-2
 * @throws Error when no verifier would accept it
 */
export async function readHistory(
  journal: Pick<KeyJournal, "keys" | "revocations">,
  ledger: string,
): Promise<KeyHistory> {
  const [entries, revocations] = [await journal.keys(), await journal.revocations()];
  const history = drawHistory(ledger, entries, revocations);
  requireSound(history);
  return history;
}

/** @param ledger CAIP-2; @throws as `readHistory` */
export async function readView(
  journal: Pick<KeyJournal, "keys" | "revocations" | "announced">,
  ledger: string,
): Promise<KeyView> {
  // Read first: a record that is concluded in the meantime is then seen here or among the entries.
  const announced = await journal.announced();
  return { history: await readHistory(journal, ledger), announced: announced?.record };
}

/** Returns why a key may not sign, in one sentence; undefined when it may. */
export function whyUnusable(kid: string, { history: { keys }, announced }: KeyView): string | undefined {
  const own = keys.find((entry) => entry.kid === kid);
  const current = keys.at(-1);
  if (!own || own !== current) {
    const key = `The attestor's key is ${kid} (attestor.signer)`;
    const now = `the history's current key is ${current?.kid}`;
    if (own?.untilRound !== undefined)
      return `${key}, which was replaced in round ${own.untilRound}: ${now}. Choose its signer, or its seed.`;
    const restore =
      'if the journal is a backup from before a rotation, restore the history with "attestd keys restore"';
    return `${key}, but ${now}: ${restore}; if not, choose the signer, or the seed, of this journal.`;
  }
  if (own.revokedRound !== undefined)
    return `The current key ${kid} is revoked from round ${own.revokedRound} on: replace it with "attestd keys rotate".`;
  if (announced?.kind === "key")
    return `The key is being replaced by ${announced.entry.kid}: run "attestd keys rotate" again to finish that.`;
  if (announced?.kid === kid) return `The key ${kid} is being revoked: run "attestd keys revoke" again to finish that.`;
  return undefined;
}

export type HistoryOptions = {
  journal: Pick<KeyJournal, "keys" | "appendKey" | "revocations" | "announced">;
  signer: Pick<Signer, "kid" | "keySha256" | "pqPublicKey">;
  /** CAIP-2. */
  ledger: string;
  algorandAddress: string;
  /** The service's, as the first entry names it. */
  origin: string;
  /** The ledger's current round. */
  round: number;
};

/**
 * Opens the attestor's key history. If there is none it starts one: the first entry begins at the ledger's current
 * round and needs no endorsement (format.md, "Keys").
 * @throws config_invalid when the configured key may not sign, or the current entry belongs to another account; Error
 *   when no verifier would accept the journal's history
 */
export async function openHistory(options: HistoryOptions): Promise<KeyView> {
  const { journal, signer, ledger, algorandAddress, origin, round } = options;
  if ((await journal.keys()).length === 0)
    await journal.appendKey(entryOf(signer, { algorandAddress, origin, fromRound: round }));
  // Read again: if replicas start at once, another may have written the first entry.
  const view = await readView(journal, ledger);
  const unavailableReason = whyUnusable(signer.kid, view);
  if (unavailableReason) throw configInvalid(unavailableReason);
  const account = view.history.keys.at(-1)?.algorandAddress;
  if (account !== algorandAddress)
    throw configInvalid(
      `The attestor's account is ${algorandAddress} (attestor.signer), but the history names ${account}.`,
    );
  return view;
}

/** Makes an entry of the history, without an endorsement. */
export function entryOf(
  { kid, keySha256, pqPublicKey }: HistoryOptions["signer"],
  members: Pick<KeyEntry, "algorandAddress" | "origin" | "fromRound">,
): KeyEntry {
  return { type: "attestor-key", version: 1, kid, keySha256, pqPublicKey, ...members };
}

function requireSound(history: KeyHistory): void {
  try {
    parseKeyHistory(history, nativeCrypto);
  } catch (error) {
    if (!isProofError(error, "format")) throw error;
    throw new Error(`the journal's key history is not valid: ${error.pointer}: ${error.message}`, { cause: error });
  }
}

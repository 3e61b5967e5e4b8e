import { checkKeyNotes, type KeyHistory, type RecordedNote } from "@attestd/proof";
import { readHistory, whyUnusable } from "../../attestor/history.ts";
import { NOTE_BEGINS } from "../../audit/chain-index.ts";
import { recordedKeyNotes } from "../../audit/key-notes.ts";
import { attestationsFor } from "../../calls/capacity.ts";
import { type Finding, fail, ok, unread, warning } from "../../health/finding.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import { attestorNotes } from "../../ledger/search.ts";
import { deadline, systemClock } from "../../lib/clock.ts";
import { readableChains } from "../../networks/readable-chains.ts";
import { isProviderError } from "../../providers/provider.ts";
import { failover } from "../../providers/quorum.ts";
import type { Check, Examined } from "./examined.ts";
import { readJournal } from "./journal.ts";

/** The number of affordable attestations below which an operator should fund the account. */
const FEW = 1_000n;
/**
 * How long the ledger is searched for key notes, in ms. For an account with many attestations there is a separate
 * command.
 */
const NOTES_MS = 20_000;

/**
 * Checks the attestor: its balance in attestations, who signs for the account, and its key against journal and ledger.
 */
export const checkAttestor: Check = async (examined) => {
  const { ledger, nodes, signal } = examined;
  try {
    const question = { about: "the attestor's account", signal };
    const ask = (algod: (typeof nodes.algorand.algods)[number], ends: AbortSignal) =>
      algod.account(ledger.address, ends);
    const { amount, minBalance } = await failover(nodes.algorand.algods, ask, question);
    const unavailableReason = await ledger.unavailableReason(signal);
    return [
      ...(unavailableReason === undefined ? [] : [fail(unavailableReason)]),
      fundsOf(ledger, amount - minBalance),
      ...(await checkKeys(examined, ledger.address)),
    ];
  } catch (error) {
    return [unread(`attestor.signer: the account ${ledger.address}`, error)];
  }
};

function fundsOf({ address, fee }: Pick<Ledger, "address" | "fee">, spendable: bigint): Finding {
  const left = attestationsFor(spendable, fee);
  const each = `0.00${fee / 1_000n}`;
  const sentence = `attestor.signer: the account ${address} can pay for ${left} attestations`;
  if (left === 0n) return fail(`${sentence}. Send it ALGO: 0.2, and ${each} for each attestation.`);
  return left < FEW ? warning(`${sentence}. Send it ALGO: ${each} for each.`) : ok(`${sentence}.`);
}

async function checkKeys(examined: Examined, address: string): Promise<Finding[]> {
  const { config, kid } = examined;
  let history: KeyHistory | undefined;
  try {
    history = await readJournal(config, async (reader) => {
      const isBegun = (await reader.schema()) !== "absent" && (await reader.keys()).length > 0;
      return isBegun ? readHistory(reader, config.algorand.caip2) : undefined;
    });
  } catch (error) {
    return [fail(`journal.url: its keys cannot be read: ${(error as Error).message}. Restore the backup.`)];
  }
  const [first] = history?.keys ?? [];
  if (!history || !first) {
    const before = await firstNoteOf(examined, address);
    const begin = `attestor.signer: the key ${kid} begins a history at the first start`;
    if (!before) return [ok(`${begin}.`)];
    const remedy = "Restore its journal and name it by journal.url, or make a new attestor by `attestd keygen`";
    return [warning(`${begin}, but ${address} has attested before, in round ${before.round}. ${remedy}.`)];
  }
  const unavailableReason = whyUnusable(kid, { history, announced: undefined });
  if (unavailableReason !== undefined) return [fail(unavailableReason)];
  return [compared(history, await keyNotesOf(examined, first.algorandAddress), kid)];
}

function compared(history: KeyHistory, notes: RecordedNote[] | "unfinished", kid: string): Finding {
  const key = `attestor.signer: the key ${kid} is the history's current one`;
  if (notes === "unfinished") {
    const remedy = "Run `attestd keys history --settings FILE --indexer URL`";
    return warning(`${key}, but not all key notes on the ledger were read within ${NOTES_MS / 1000} s. ${remedy}.`);
  }
  const [finding] = checkKeyNotes(history, notes);
  if (!finding) return ok(`${key}, and the key notes on the ledger agree.`);
  const where = `${finding.pointer}: ${finding.message}`;
  return fail(
    `journal.url: the key history does not fit the ledger: ${where}. Restore it by \`attestd keys restore\`.`,
  );
}

/** Returns the first of our notes that an account has sent, if any. */
async function firstNoteOf({ config, log, signal }: Examined, account: string): Promise<RecordedNote | undefined> {
  const ends = deadline(systemClock, NOTES_MS, signal);
  const { ledger, ledgerHeights } = readableChains(config, log, ends);
  const search = async () => {
    const to = (await ledgerHeights.heads()).latest;
    for await (const { note, ...one } of attestorNotes(ledger, [account], { from: 0, to }))
      if (note?.startsWith(NOTE_BEGINS) && one.sender === account) return { ...one, note };
    return undefined;
  };
  return unlessUnfinished(search(), ends, undefined);
}

async function keyNotesOf({ config, log, signal }: Examined, account: string): Promise<RecordedNote[] | "unfinished"> {
  const ends = deadline(systemClock, NOTES_MS, signal);
  const reading = recordedKeyNotes(config, { account, from: 0, log, signal: ends }).then(({ notes }) => notes);
  return unlessUnfinished(reading, ends, "unfinished");
}

/** @returns `otherwise` when the nodes gave no answer, or not in time */
async function unlessUnfinished<T, O>(reading: Promise<T>, ends: AbortSignal, otherwise: O): Promise<T | O> {
  try {
    return await reading;
  } catch (error) {
    if (isProviderError(error) || ends.aborted) return otherwise;
    throw error;
  }
}

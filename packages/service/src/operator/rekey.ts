import { encodeAddress } from "@attestd/proof/algorand";
import type { Settings, Table } from "../config/settings-file.ts";
import { deadline, systemClock } from "../lib/clock.ts";
import { ServiceError } from "../lib/errors.ts";
import { accountForm } from "../signers/account-form.ts";
import { nextConfig } from "./keys.ts";
import { type OperatorOptions, openSession, requireAlone } from "./session.ts";

/** Who authorises for the account from now on. */
type Rekeyed = {
  /** The account, unchanged. */
  address: string;
  /** The address of the key that authorises for it now. */
  authorizer: string;
  /** Id of the rekey transaction; absent if the account was rekeyed before. */
  txid?: string;
};

/** How long the ledger may take to record the transaction, in ms. */
const DEADLINE_MS = 120_000;

/**
 * Rekeys the attestor's account to the account key of other settings, while no service runs. The address stays, and
 * with it the key history. After an interruption, the same call continues.
 * @param next.attestor as in `rotateKey`; `address` MUST be the account, unless the key is its own
 * @throws ServiceError; Error when the journal cannot be opened
 */
export async function rekeyAccount(
  settings: Settings,
  next: { attestor(current: Table): Promise<Table> },
  options: OperatorOptions,
): Promise<Rekeyed> {
  await using session = await openSession(settings, options);
  const journal = await session.journal();
  await requireAlone(journal, "Another replica has this journal open: stop every service first.");
  const signal = deadline(systemClock, DEADLINE_MS, options.signal);
  const changed = await nextConfig(settings, next, options);
  const ledger = await session.ledger();
  const following = await session.ledger(changed);
  if (following.ledger.address !== ledger.ledger.address)
    throw new ServiceError(
      "not_allowed",
      `The next settings mean the account ${following.ledger.address}, not ${ledger.ledger.address}: set attestor.address = "${ledger.ledger.address}" in them.`,
    );
  const { account } = accountForm(following.account);
  const done = { address: ledger.ledger.address, authorizer: encodeAddress(account) };
  if ((await following.ledger.unavailableReason(signal)) === undefined) return done;
  const unavailableReason =
    (await ledger.ledger.unavailableReason(signal)) ?? (await following.ledger.unknownKey(signal));
  if (unavailableReason !== undefined) throw new ServiceError("not_allowed", unavailableReason);
  // Rekeying to a key that cannot sign would make the account unusable.
  await following.account.probe(signal);
  const attempt = await ledger.ledger.rekey(account, signal);
  const submission = await ledger.ledger.submit(attempt.raw, signal);
  if (submission.status !== "accepted")
    throw new ServiceError("not_allowed", `The ledger did not accept the transaction: ${submission.reason}`);
  const { state } = await ledger.ledger.rounds.settled(attempt.txid, attempt, signal);
  if (state !== "confirmed")
    throw new ServiceError("not_allowed", "The ledger has not recorded the transaction: run the command again.");
  return { ...done, txid: attempt.txid };
}

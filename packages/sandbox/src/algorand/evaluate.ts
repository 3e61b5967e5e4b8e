import { encodeMsgpack, getBytes, getString, transactionDigest } from "@attestd/proof/algorand";
import { concatBytes, equalBytes, toBase32, utf8 } from "@attestd/proof/encoding";
import { sha512_256 } from "@noble/hashes/sha2.js";
import { type ApplyData, applyTransaction } from "./apply.ts";
import { Rejection } from "./rejection.ts";
import { isEmptyAccount, type LedgerState, minBalance } from "./state.ts";
import type { SignedTransaction, Transaction } from "./transaction.ts";
import type { SpecialAddresses } from "./verify.ts";

const GROUP = utf8("TG");
const NO_GROUP = new Uint8Array(32);

/** The next round, and the chain. */
export interface RoundContext {
  round: number;
  genesisId: string;
  genesisHash: Uint8Array;
  special: SpecialAddresses;
}

/**
 * Applies a verified group as a whole or not at all (go-algorand, `ledger/eval/eval.go`, TransactionGroup).
 * @returns what each member did, in order
 * @throws Rejection; the state is then as before.
 */
export function applyGroup(state: LedgerState, group: SignedTransaction[], context: RoundContext): ApplyData[] {
  const trial = state.child();
  const applied = group.map((signed, index) => {
    try {
      return applyMember(trial, signed, index, group, context);
    } catch (error) {
      if (error instanceof Rejection && error.groupIndex === undefined) throw new Rejection(error.message, index);
      throw error;
    }
  });
  checkGroupId(group);
  trial.commit();
  return applied;
}

function applyMember(
  state: LedgerState,
  { txn, authorizer }: SignedTransaction,
  index: number,
  group: SignedTransaction[],
  context: RoundContext,
): ApplyData {
  checkAlive(txn, context);
  state.checkDuplicate(txn, context.round);
  const rightful = state.account(txn.sender).authAddress ?? txn.sender;
  if (authorizer !== rightful)
    throw new Rejection(
      `transaction ${txn.id}: should have been authorized by ${rightful} but was actually authorized by ${authorizer}`,
    );
  let applied: ApplyData;
  try {
    applied = applyTransaction(state, txn, context.special.feeSink);
    checkMinBalances(state, context.special);
  } catch (error) {
    if (error instanceof Rejection) throw new Rejection(`transaction ${txn.id}: ${error.message}`, index);
    throw error;
  }
  state.addTransaction(txn);
  const first = group[0]?.txn.group ?? NO_GROUP;
  const own = txn.group ?? NO_GROUP;
  if (!equalBytes(own, first))
    throw new Rejection(`transactionGroup: inconsistent group values: ${toBase32(own)} != ${toBase32(first)}`);
  if (txn.group === undefined && group.length > 1)
    throw new Rejection(`transactionGroup: [${index}] had zero Group but was submitted in a group of ${group.length}`);
  return applied;
}

function checkAlive(txn: Transaction, { round, genesisId, genesisHash }: RoundContext): void {
  if (round < txn.firstValid || round > txn.lastValid)
    throw new Rejection(`txn dead: round ${round} outside of ${txn.firstValid}--${txn.lastValid}`);
  const named = getString(txn.map, "gen");
  if (named !== undefined && named !== genesisId)
    throw new Rejection(`tx.GenesisID <${named}> does not match expected <${genesisId}>`);
  const hash = getBytes(txn.map, "gh", 32);
  if (hash === undefined) throw new Rejection("required tx.GenesisHash is missing");
  if (!equalBytes(hash, genesisHash))
    throw new Rejection(`tx.GenesisHash <${toBase32(hash)}> does not match expected <${toBase32(genesisHash)}>`);
}

/** Checks every account that the group has changed so far, not only this member's. */
function checkMinBalances(state: LedgerState, { feeSink, rewardsPool }: SpecialAddresses): void {
  for (const [address, account] of state.changedAccounts()) {
    if (address === feeSink || address === rewardsPool || isEmptyAccount(account)) continue;
    const least = minBalance(account);
    if (account.balance < least)
      throw new Rejection(
        `account ${address} balance ${account.balance} below min ${least} (${account.holdings.size} assets)`,
      );
  }
}

/** A group's id is the hash of its members' ids, each computed without its group. */
function checkGroupId(group: SignedTransaction[]): void {
  const claimed = group[0]?.txn.group;
  if (claimed === undefined) return;
  const members = group.map(({ txn }) => {
    const alone = new Map(txn.map);
    alone.delete("grp");
    return transactionDigest(encodeMsgpack(alone));
  });
  const computed = sha512_256(concatBytes(GROUP, encodeMsgpack(new Map([["txlist", members]]))));
  if (!equalBytes(claimed, computed))
    throw new Rejection(
      `transactionGroup: incomplete group: ${toBase32(claimed)} != ${toBase32(computed)} ({{} [${members.map(toBase32).join(" ")}]})`,
    );
}

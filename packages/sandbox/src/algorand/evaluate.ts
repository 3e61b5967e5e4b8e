import { encodeMsgpack, getBytes, getString, transactionDigest } from "@attestd/proof/algorand";
import { concatBytes, equalBytes, toBase32, utf8 } from "@attestd/proof/encoding";
import { sha512_256 } from "@noble/hashes/sha2.js";
import { type ApplyData, applyTransaction } from "./apply.ts";
import type { Genesis } from "./genesis.ts";
import { prefixRejection, Rejection } from "./rejection.ts";
import { isEmptyAccount, type LedgerState, minBalance } from "./state.ts";
import type { SignedTransaction, Transaction } from "./transaction.ts";
import type { SpecialAddresses } from "./verify.ts";

const GROUP = utf8("TG");
const NO_GROUP = new Uint8Array(32);

/**
 * Applies a verified group as a whole or not at all (go-algorand, `ledger/eval/eval.go`, TransactionGroup).
 * @param round the next round
 * @returns the effects of each member, in order
 * @throws Rejection; the state is then as before.
 */
export function applyGroup(
  state: LedgerState,
  group: SignedTransaction[],
  round: number,
  genesis: Genesis,
): ApplyData[] {
  const trial = state.child();
  const applied = group.map((signed, index) =>
    prefixRejection("", index, () => applyMember(trial, signed, index, group, round, genesis)),
  );
  checkGroupId(group);
  trial.commit();
  return applied;
}

function applyMember(
  state: LedgerState,
  { txn, authorizer }: SignedTransaction,
  index: number,
  group: SignedTransaction[],
  round: number,
  genesis: Genesis,
): ApplyData {
  checkAlive(txn, round, genesis);
  state.checkDuplicate(txn, round);
  const rightful = state.account(txn.sender).authAddress ?? txn.sender;
  if (authorizer !== rightful)
    throw new Rejection(
      `transaction ${txn.id}: should have been authorized by ${rightful} but was actually authorized by ${authorizer}`,
    );
  const applied = prefixRejection(`transaction ${txn.id}: `, index, () => {
    const data = applyTransaction(state, txn, genesis.special.feeSink);
    checkMinBalances(state, genesis.special);
    return data;
  });
  state.addTransaction(txn);
  const first = group[0]?.txn.group ?? NO_GROUP;
  const own = txn.group ?? NO_GROUP;
  if (!equalBytes(own, first))
    throw new Rejection(`transactionGroup: inconsistent group values: ${toBase32(own)} != ${toBase32(first)}`);
  if (txn.group === undefined && group.length > 1)
    throw new Rejection(`transactionGroup: [${index}] had zero Group but was submitted in a group of ${group.length}`);
  return applied;
}

function checkAlive(txn: Transaction, round: number, genesis: Genesis): void {
  if (round < txn.firstValid || round > txn.lastValid)
    throw new Rejection(`txn dead: round ${round} outside of ${txn.firstValid}--${txn.lastValid}`);
  const named = getString(txn.map, "gen");
  if (named !== undefined && named !== genesis.id)
    throw new Rejection(`tx.GenesisID <${named}> does not match expected <${genesis.id}>`);
  const hash = getBytes(txn.map, "gh", 32);
  if (hash === undefined) throw new Rejection("required tx.GenesisHash is missing");
  if (!equalBytes(hash, genesis.hash))
    throw new Rejection(`tx.GenesisHash <${toBase32(hash)}> does not match expected <${toBase32(genesis.hash)}>`);
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

import { getBytes, getString } from "@attestd/proof/algorand";
import { equalBytes, toBase32 } from "@attestd/proof/encoding";
import { type ApplyData, applyTransaction } from "./apply.ts";
import type { Consensus } from "./consensus.ts";
import type { Genesis } from "./genesis.ts";
import { checkGroupFees } from "./group.ts";
import { prefixRejection, Rejection } from "./rejection.ts";
import { isEmptyAccount, type LedgerState, minBalance } from "./state.ts";
import type { SignedTransaction, Transaction } from "./transaction.ts";

/**
 * Applies a verified group completely or not at all (go-algorand, `ledger/eval/eval.go`, TransactionGroup).
 * @param round the next round
 * @returns the effects of each member, in order
 * @throws Rejection; the state is then unchanged
 */
export function applyGroup(
  state: LedgerState,
  group: SignedTransaction[],
  round: number,
  genesis: Genesis,
  consensus: Consensus,
): ApplyData[] {
  const trial = state.child();
  const applied = group.map((signed, index) =>
    prefixRejection("", index, () => applyMember(trial, signed, index, round, genesis)),
  );
  checkGroupFees(group, consensus);
  trial.commit();
  return applied;
}

function applyMember(
  state: LedgerState,
  { txn, authorizer }: SignedTransaction,
  index: number,
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
function checkMinBalances(state: LedgerState, { feeSink, rewardsPool }: Genesis["special"]): void {
  for (const [address, account] of state.changedAccounts()) {
    if (address === feeSink || address === rewardsPool || isEmptyAccount(account)) continue;
    const least = minBalance(account);
    if (account.balance < least)
      throw new Rejection(
        `account ${address} balance ${account.balance} below min ${least} (${account.holdings.size} assets)`,
      );
  }
}

import { RAILS } from "@attestd/proof/rails";
import {
  makeAssetCreateTxnWithSuggestedParamsFromObject,
  makeAssetTransferTxnWithSuggestedParamsFromObject,
  makePaymentTxnWithSuggestedParamsFromObject,
  type SuggestedParams,
  type Transaction,
} from "algosdk";
import { type Role, type SandboxAccount, signTransaction } from "./account.ts";
import { MAX_TXN_LIFE, MAX_UINT64, MIN_TXN_FEE } from "./consensus.ts";
import type { Ledger } from "./ledger.ts";
import { decodeSignedTransactions } from "./transaction.ts";

/** The asset id that stock x402 clients know. */
export const USDC_ID = Number(RAILS.algorand.usdc);

/** Base units, six decimals: 1,000 USDC. */
const PAYER_USDC = 1_000_000_000n;

const SAMPLE_NOTE = "attestd sandbox: a first payment, to be attested";

/**
 * Creates USDC and a sample payment on a new ledger, in two rounds of ordinary signed transactions. The genesis's
 * counter must be such that the first transaction creates `USDC_ID`.
 * @returns the payment's id and round
 */
export function furnish(ledger: Ledger, accounts: Record<Role, SandboxAccount>): { txid: string; round: number } {
  const { dispenser, payer } = accounts;
  const send = (from: SandboxAccount, transaction: Transaction) =>
    ledger.submit(decodeSignedTransactions(signTransaction(from, transaction)));

  const suggestedParams = paramsOf(ledger);
  send(
    dispenser,
    makeAssetCreateTxnWithSuggestedParamsFromObject({
      sender: dispenser.address,
      suggestedParams,
      // Total, decimals and names are the real USDC's, which has no clawback either.
      total: MAX_UINT64,
      decimals: 6,
      defaultFrozen: false,
      unitName: "USDC",
      assetName: "USDC",
      manager: dispenser.address,
      reserve: dispenser.address,
      freeze: dispenser.address,
    }),
  );
  const transfer = (from: SandboxAccount, { address: receiver }: SandboxAccount, amount: bigint) => {
    const fields = { sender: from.address, receiver, amount, assetIndex: USDC_ID, suggestedParams };
    send(from, makeAssetTransferTxnWithSuggestedParamsFromObject(fields));
  };
  for (const account of [payer, accounts.attestor, accounts.payTo, accounts.feePayer]) transfer(account, account, 0n);
  transfer(dispenser, payer, PAYER_USDC);
  ledger.advance();

  const payment = makePaymentTxnWithSuggestedParamsFromObject({
    sender: dispenser.address,
    receiver: payer.address,
    amount: 5_000_000n,
    note: new TextEncoder().encode(SAMPLE_NOTE),
    suggestedParams: paramsOf(ledger),
  });
  send(dispenser, payment);
  const { round } = ledger.advance();
  return { txid: payment.txID(), round };
}

function paramsOf({ genesis, round }: Ledger): SuggestedParams {
  return {
    fee: 0n,
    minFee: MIN_TXN_FEE,
    firstValid: round,
    lastValid: round + MAX_TXN_LIFE,
    genesisID: genesis.id,
    genesisHash: genesis.hash,
  };
}

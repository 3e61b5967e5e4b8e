import type { Sandbox } from "@attestd/sandbox";
import { ExactAvmScheme } from "@x402/avm/exact/client";
import type { x402Client } from "@x402/core/client";
import algosdk from "algosdk";
import { algorandClientOf, patient } from "./deployment.ts";
import { ALGORAND_USDC } from "./ledger.ts";

/** A multisig account: its preimage, and the keys that this test has. */
export type Multisig = {
  address: string;
  preimage: Parameters<typeof algosdk.signMultisigTransaction>[1];
  keys: algosdk.Account[];
};

function algodOf({ algodUrl }: Sandbox): algosdk.Algodv2 {
  return new algosdk.Algodv2("", algodUrl, new URL(algodUrl).port);
}

/** A 2-of-2 account with some ALGO and 1 USDC, and its keys. */
export async function fundedMultisig(sandbox: Sandbox): Promise<Multisig> {
  const algod = algodOf(sandbox);
  const funder = algosdk.mnemonicToSecretKey(sandbox.payers.algorand.mnemonic);
  const keys = [algosdk.generateAccount(), algosdk.generateAccount()];
  const preimage = { version: 1, threshold: 2, addrs: keys.map(({ addr }) => addr) };
  const address = algosdk.multisigAddress(preimage).toString();
  const multisig = { address, preimage, keys };
  const suggestedParams = await algod.getTransactionParams().do();
  const asset = { assetIndex: ALGORAND_USDC, suggestedParams };
  const fund = algosdk.makePaymentTxnWithSuggestedParamsFromObject({
    sender: funder.addr,
    receiver: address,
    amount: 1_000_000,
    suggestedParams,
  });
  const optIn = algosdk.makeAssetTransferTxnWithSuggestedParamsFromObject({
    ...asset,
    sender: address,
    receiver: address,
    amount: 0,
  });
  const give = algosdk.makeAssetTransferTxnWithSuggestedParamsFromObject({
    ...asset,
    sender: funder.addr,
    receiver: address,
    amount: 1_000_000,
  });
  algosdk.assignGroupID([fund, optIn, give]);
  await send(algod, [fund.signTxn(funder.sk), signAll(multisig, optIn), give.signTxn(funder.sk)]);
  return multisig;
}

/** Rekeys the account: from now on the ledger accepts no signature of its keys. */
export async function rekeyAway(sandbox: Sandbox, multisig: Multisig): Promise<void> {
  const algod = algodOf(sandbox);
  const rekey = algosdk.makePaymentTxnWithSuggestedParamsFromObject({
    sender: multisig.address,
    receiver: multisig.address,
    amount: 0,
    rekeyTo: algosdk.generateAccount().addr,
    suggestedParams: await algod.getTransactionParams().do(),
  });
  await send(algod, [signAll(multisig, rekey)]);
}

async function send(algod: algosdk.Algodv2, group: Uint8Array[]): Promise<void> {
  const { txid } = await algod.sendRawTransaction(group).do();
  await algosdk.waitForConfirmation(algod, txid, 5);
}

function signAll({ keys, preimage }: Multisig, txn: algosdk.Transaction): Uint8Array {
  const blobs = keys.map(({ sk }) => algosdk.signMultisigTransaction(txn, preimage, sk).blob);
  return algosdk.mergeMultisigTransactions(blobs);
}

/** A stock client whose account signs with these keys. */
export function multisigClient(sandbox: Sandbox, multisig: Multisig): x402Client {
  const signer = {
    address: multisig.address,
    signTransactions: async (txns: Uint8Array[], indexes: number[] = []) =>
      txns.map((bytes, i) =>
        indexes.includes(i) ? signAll(multisig, algosdk.decodeUnsignedTransaction(bytes)) : null,
      ),
  };
  return algorandClientOf(new ExactAvmScheme(signer, patient(sandbox.algodUrl)));
}

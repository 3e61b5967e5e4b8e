import { ExactAvmScheme } from "@x402/avm/exact/client";
import { x402Client } from "@x402/core/client";
import algosdk from "algosdk";
import { afterAll, beforeAll, expect, test } from "vitest";
import { patient, pay, sign, startWorld, type World } from "./world.ts";

const USDC = 31566704n;

let world: World;
beforeAll(async () => {
  world = await startWorld({ networks: [] });
});
afterAll(() => world.close());

/** A 2-of-2 account with some ALGO and 1 USDC, and its keys. */
async function fundedMultisig() {
  const { algodUrl, payers } = world.sandbox;
  const algod = new algosdk.Algodv2("", algodUrl, new URL(algodUrl).port);
  const funder = algosdk.mnemonicToSecretKey(payers.algorand.mnemonic);
  const keys = [algosdk.generateAccount(), algosdk.generateAccount()];
  const preimage = { version: 1, threshold: 2, addrs: keys.map(({ addr }) => addr) };
  const address = algosdk.multisigAddress(preimage).toString();
  const suggestedParams = await algod.getTransactionParams().do();
  const asset = { assetIndex: USDC, suggestedParams };
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
  const signed = [fund.signTxn(funder.sk), signAll(optIn, keys, preimage), give.signTxn(funder.sk)];
  const { txid } = await algod.sendRawTransaction(signed).do();
  await algosdk.waitForConfirmation(algod, txid, 5);
  return { address, keys, preimage };
}

type Preimage = Parameters<typeof algosdk.signMultisigTransaction>[1];
function signAll(txn: algosdk.Transaction, keys: algosdk.Account[], preimage: Preimage): Uint8Array {
  return algosdk.mergeMultisigTransactions(
    keys.map(({ sk }) => algosdk.signMultisigTransaction(txn, preimage, sk).blob),
  );
}

/** A stock client whose account signs with these keys. */
function clientOf(address: string, keys: algosdk.Account[], preimage: Preimage): x402Client {
  const signer = {
    address,
    signTransactions: async (txns: Uint8Array[], indexes: number[] = []) =>
      txns.map((bytes, i) =>
        indexes.includes(i) ? signAll(algosdk.decodeUnsignedTransaction(bytes), keys, preimage) : null,
      ),
  };
  const scheme = new ExactAvmScheme(signer, patient(world.sandbox.algodUrl));
  return new x402Client().register("algorand:*", scheme);
}

test("a multisig account buys; one that lacks a signature of its own does not", async () => {
  const { address, keys, preimage } = await fundedMultisig();
  const url = `${world.url}/attest`;
  const body = { txid: world.sandbox.sampleTransactions.algorand };
  const stranger = algosdk.generateAccount();
  const lacking = { ...preimage, addrs: [preimage.addrs[0] as algosdk.Address, stranger.addr] };
  const impostor = clientOf(address, [keys[0] as algosdk.Account, stranger], lacking);
  expect(await pay(url, body, await sign(url, body, impostor))).toMatchObject({
    status: 402,
    json: { error: "the payer's signature does not fit the payment" },
  });
  expect(await pay(url, body, await sign(url, body, clientOf(address, keys, preimage)))).toMatchObject({ status: 200 });
});

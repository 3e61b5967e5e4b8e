import algosdk from "algosdk";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Deployment, pay, sign, startDeployment } from "./deployment.ts";
import { fundedMultisig, multisigClient } from "./multisig.ts";

let deployment: Deployment;
beforeAll(async () => {
  deployment = await startDeployment({ networks: [] });
});
afterAll(() => deployment.close());

test("a multisig account buys only with all of its signatures", async () => {
  const { sandbox } = deployment;
  const multisig = await fundedMultisig(sandbox);
  const { keys, preimage } = multisig;
  const url = `${deployment.url}/attest`;
  const body = { txid: sandbox.sampleTransactions.algorand };
  const stranger = algosdk.generateAccount();
  const lacking = {
    ...multisig,
    keys: [keys[0] as algosdk.Account, stranger],
    preimage: { ...preimage, addrs: [preimage.addrs[0] as algosdk.Address, stranger.addr] },
  };
  expect(await pay(url, body, await sign(url, body, multisigClient(sandbox, lacking)))).toMatchObject({
    status: 402,
    json: { error: "the payer's signature does not fit the payment" },
  });
  expect(await pay(url, body, await sign(url, body, multisigClient(sandbox, multisig)))).toMatchObject({ status: 200 });
});

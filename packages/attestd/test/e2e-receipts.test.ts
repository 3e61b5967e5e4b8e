import { attestBlock, memoryVault } from "@attestd/client";
import { type PaymentReceipt, parseJson, parseKeyHistory, verifyPaymentReceipt } from "@attestd/proof";
import { extractReceiptFromResponse } from "@x402/extensions/offer-receipt";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Answer, algorandClient, pay, sign, startWorld, type World } from "./world.ts";

let world: World;
beforeAll(async () => {
  world = await startWorld({ networks: [] });
});
afterAll(() => world.close());

/** Reads the receipt as someone would who has nothing but the stock client and the published keys. */
async function receiptOf({ headers }: Answer): Promise<PaymentReceipt> {
  const receipt = extractReceiptFromResponse(new Response(null, { headers }));
  const history = await fetch(`${world.url}/.well-known/attestor-keys.json`);
  const { keys } = parseKeyHistory(parseJson(await history.text()));
  return verifyPaymentReceipt(
    receipt?.signature ?? "",
    keys.map(({ pqPublicKey }) => pqPublicKey),
  );
}

describe("the receipt of a paid call", () => {
  test("is signed for this payment, and is the same whenever it is given again", async () => {
    const url = `${world.url}/attest`;
    const body = { txid: world.sandbox.sampleTransactions.algorand };
    const payment = await sign(url, body, algorandClient(world.sandbox));
    const bought = await pay(url, body, payment);
    const settlement = bought.headers.get("payment-response") ?? "";
    const { transaction, network } = JSON.parse(Buffer.from(settlement, "base64").toString());

    const receipt = await receiptOf(bought);
    expect(receipt).toMatchObject({
      resourceUrl: url,
      payer: world.sandbox.payers.algorand.address,
      transaction,
      network,
    });
    expect(Math.abs(Date.now() / 1000 - receipt.issuedAt)).toBeLessThan(60);
    expect((await pay(url, body, payment)).headers.get("payment-response")).toBe(settlement);
    await world.restart();
    const restarted = await pay(`${world.url}/attest`, body, payment);
    expect(restarted).toMatchObject({ status: 200, text: bought.text });
    expect(restarted.headers.get("payment-response")).toBe(settlement);
  });

  test("names what was bought, and reaches the client's caller checked", async () => {
    const { payers, sampleTransactions } = world.sandbox;
    const client = algorandClient(world.sandbox);
    const { signedReceipt, receipt } = await attestBlock({
      service: world.url,
      chain: "algorand",
      height: sampleTransactions.algorandHeight,
      wallet: {
        payer: () => payers.algorand.address,
        sign: (required) => client.createPaymentPayload(required),
      },
      maxPrice: "0.01",
      vault: memoryVault(),
    });
    expect(signedReceipt?.payload).toMatchObject({
      resourceUrl: `${world.url}/attest-block`,
      transaction: receipt?.transaction,
    });
  });
});

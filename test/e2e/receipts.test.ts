import { join } from "node:path";
import { attestBlock, memoryVault } from "@attestd/client";
import { type PaymentReceipt, parseJson, parseKeyHistory, verifyPaymentReceipt } from "@attestd/proof";
import { startService } from "@attestd/service";
import { decodePaymentRequiredHeader, encodePaymentSignatureHeader } from "@x402/core/http";
import { validateDiscoveryExtensionSpec } from "@x402/extensions/bazaar";
import { extractReceiptFromResponse } from "@x402/extensions/offer-receipt";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { sandboxFolder } from "../../packages/attestd/src/trust/sandbox-folder.ts";
import type { Journal } from "../../packages/service/src/calls/journal.ts";
import { sandboxSettings } from "../helpers/sandbox-settings.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";
import { type Answer, algorandClient, type Deployment, pay, post, sign, startDeployment } from "./deployment.ts";

let deployment: Deployment;
beforeAll(async () => {
  deployment = await startDeployment({ networks: [] });
});
afterAll(() => deployment.close());

/** Reads the receipt with only the stock client and the published keys. */
async function receiptOf({ headers }: Answer): Promise<PaymentReceipt> {
  const receipt = extractReceiptFromResponse(new Response(null, { headers }));
  const history = await fetch(`${deployment.url}/.well-known/attestor-keys.json`);
  const { keys } = parseKeyHistory(parseJson(await history.text()));
  return verifyPaymentReceipt(
    receipt?.signature ?? "",
    keys.map(({ pqPublicKey }) => pqPublicKey),
  );
}

/** A journal with one method replaced. */
function watched<J extends Journal>(journal: J, update: Journal["update"]): J {
  return new Proxy(journal, {
    get(target, name) {
      if (name === "update") return update;
      const member = Reflect.get(target, name);
      return typeof member === "function" ? member.bind(target) : member;
    },
  });
}

/** Half of Node's limit for the headers of a message, and some clients' limit for one header. */
const MODEST = 8_000;

test.each(["/attest", "/attest-block", "/prove-tx-inclusion"])(
  "a 402 of %s tells indexers how to call it, and headers stay modest",
  async (path) => {
    const { status, headers, json } = await post(`${deployment.url}${path}`, "");
    expect(status).toBe(402);
    expect(headers.get("payment-response")).toBeNull();
    const required = headers.get("payment-required") ?? "";
    expect(decodePaymentRequiredHeader(required).extensions).toEqual(json.extensions);
    expect(validateDiscoveryExtensionSpec((json.extensions as Record<string, object>).bazaar as never).valid).toBe(
      true,
    );

    const payment = await algorandClient(deployment.sandbox).createPaymentPayload(
      decodePaymentRequiredHeader(required),
    );
    for (const header of [required, encodePaymentSignatureHeader(payment)]) expect(header.length).toBeLessThan(MODEST);
  },
);

describe("the receipt of a paid call", () => {
  test("is signed for this payment, and is the same every time", async () => {
    const url = `${deployment.url}/attest`;
    const body = { txid: deployment.sandbox.sampleTransactions.algorand };
    const payment = await sign(url, body, algorandClient(deployment.sandbox));
    const bought = await pay(url, body, payment);
    const settlement = bought.headers.get("payment-response") ?? "";
    const { transaction, network } = JSON.parse(Buffer.from(settlement, "base64").toString());

    const receipt = await receiptOf(bought);
    expect(receipt).toMatchObject({
      resourceUrl: url,
      payer: deployment.sandbox.payers.algorand.address,
      transaction,
      network,
    });
    expect(Math.abs(Date.now() / 1000 - receipt.issuedAt)).toBeLessThan(60);
    expect((await pay(url, body, payment)).headers.get("payment-response")).toBe(settlement);
    await deployment.restart();
    const restarted = await pay(`${deployment.url}/attest`, body, payment);
    expect(restarted).toMatchObject({ status: 200, text: bought.text });
    expect(restarted.headers.get("payment-response")).toBe(settlement);
  });

  test("is signed again when its commit was lost; only committed receipts are returned", async () => {
    await using folder = await temporaryFolder();
    const over = { journal: { url: `sqlite:${join(folder.path, "journal.sqlite")}` }, log_level: "silent" };
    const settings = await sandboxSettings(deployment.sandbox, sandboxFolder(folder.path), over);
    const lost: (string | undefined)[] = [];
    const losing = <J extends Journal>(journal: J) =>
      watched(journal, async (after) => {
        if (after.state !== "done" || lost.length > 0) return journal.update(after);
        lost.push(after.receipt);
        throw new Error("the disk is full");
      });

    const body = { txid: deployment.sandbox.sampleTransactions.algorand };
    const first = await startService(settings, { sandbox: true, journal: losing });
    const payment = await sign(`${first.url}/attest`, body, algorandClient(deployment.sandbox));
    const bought = await pay(`${first.url}/attest`, body, payment).finally(() => first.close());
    const settlement = bought.headers.get("payment-response");
    expect([bought.status, lost.length]).toEqual([200, 1]);
    expect(settlement).not.toBe(lost[0]);

    const second = await startService(settings, { sandbox: true });
    const again = await pay(`${second.url}/attest`, body, payment).finally(() => second.close());
    expect([again.text, again.headers.get("payment-response")]).toEqual([bought.text, settlement]);
  });

  test("names the purchase, and the client returns it verified", async () => {
    const { payers, sampleTransactions } = deployment.sandbox;
    const client = algorandClient(deployment.sandbox);
    const { signedReceipt, receipt } = await attestBlock({
      service: deployment.url,
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
      resourceUrl: `${deployment.url}/attest-block`,
      transaction: receipt?.transaction,
    });
  });
});

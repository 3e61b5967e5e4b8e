import { AlgorandClient } from "@algorandfoundation/algokit-utils/algorand-client";
import { ExactAvmScheme, toClientAvmSigner } from "@x402/avm";
import { HTTPFacilitatorClient } from "@x402/core/server";
import type { PaymentPayload, PaymentRequirements } from "@x402/core/types";
import { wrapFetchWithPayment, x402Client } from "@x402/fetch";
import { Hono } from "hono";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Listening, listen } from "../http.ts";
import { type Sandbox, startSandbox } from "../sandbox.ts";

const NETWORK = "algorand:wGHE2Pwdvd7S12BL5FaOP20EGYesN73k";
const USDC = 31566704n;

let sandbox: Sandbox;
let resource: Listening;
/** The resource server's payments and the facilitator's results, newest last. */
const settled: { payload: PaymentPayload; requirements: PaymentRequirements; transaction: string }[] = [];

beforeAll(async () => {
  sandbox = await startSandbox({ roundMs: 50, networks: [] });
  const facilitator = new HTTPFacilitatorClient({ url: sandbox.facilitatorUrl });
  const { kinds } = await facilitator.getSupported();
  const requirements: PaymentRequirements = {
    scheme: "exact",
    network: NETWORK,
    asset: String(USDC),
    amount: "1000",
    payTo: sandbox.payTo.algorand,
    maxTimeoutSeconds: 60,
    extra: kinds[0]?.extra ?? {},
  };
  const app = new Hono();
  app.get("/", async (c) => {
    const signature = c.req.header("payment-signature");
    if (signature === undefined) {
      const required = { x402Version: 2, resource: { url: c.req.url }, accepts: [requirements] };
      return c.body(null, 402, { "payment-required": btoa(JSON.stringify(required)) });
    }
    const payload = JSON.parse(atob(signature)) as PaymentPayload;
    const verdict = await facilitator.verify(payload, requirements);
    if (!verdict.isValid) return c.json(verdict, 402);
    const receipt = await facilitator.settle(payload, requirements);
    if (!receipt.success) return c.json(receipt, 402);
    settled.push({ payload, requirements, transaction: receipt.transaction });
    return c.text("paid for", 200, { "payment-response": btoa(JSON.stringify(receipt)) });
  });
  resource = await listen(app.fetch, { server: "facilitator" });
});

afterAll(async () => {
  await resource.close();
  await sandbox.close();
});

function payingFetch(): typeof fetch {
  const { secretKey } = sandbox.algorand.accounts.payer;
  const signer = toClientAvmSigner(Buffer.from(secretKey).toString("base64"));
  const { algodUrl: server } = sandbox;
  const algod = AlgorandClient.fromConfig({ algodConfig: { server, port: new URL(server).port, token: "" } });
  // Ten rounds of the stock client pass in half a second.
  const scheme = new ExactAvmScheme(signer, { algorandClient: algod.setDefaultValidityWindow(1_000) });
  const client = new x402Client().register("algorand:*", scheme);
  return wrapFetchWithPayment(fetch, client) as typeof fetch;
}

test("lists MainNet's rail and its fee payer", async () => {
  const supported = await (await fetch(`${sandbox.facilitatorUrl}/supported`)).json();
  expect(supported).toMatchObject({
    kinds: [{ x402Version: 2, scheme: "exact", network: NETWORK }],
    signers: { "algorand:*": [sandbox.algorand.accounts.feePayer.address] },
  });
});

test("a stock client pays a resource: the asset moves once, the fee payer pays the fees", async () => {
  const { ledger, accounts } = sandbox.algorand;
  const held = (address: string) => ledger.state.account(address).holdings.get(USDC)?.amount;
  const payer = ledger.state.account(accounts.payer.address);
  const feePayer = ledger.state.account(accounts.feePayer.address).balance;

  const answer = await payingFetch()(resource.url);

  expect(await answer.text()).toBe("paid for");
  const receipt = JSON.parse(atob(answer.headers.get("payment-response") ?? ""));
  expect(receipt).toMatchObject({ success: true, network: NETWORK, payer: accounts.payer.address });
  expect(ledger.blocks.locate(receipt.transaction)).toBeDefined();
  expect(held(accounts.payTo.address)).toBe(1000n);
  expect(held(accounts.payer.address)).toBe(999_999_000n);
  expect(ledger.state.account(accounts.payer.address).balance).toBe(payer.balance);
  expect(ledger.state.account(accounts.feePayer.address).balance).toBe(feePayer - 2000n);
});

test("a settled payment does not verify, and settling it again fails", async () => {
  const [first] = settled;
  if (first === undefined) throw new Error("nothing was settled yet");
  const facilitator = new HTTPFacilitatorClient({ url: sandbox.facilitatorUrl });
  const verdict = await facilitator.verify(first.payload, first.requirements);
  expect(verdict).toMatchObject({ isValid: false, invalidReason: "invalid_exact_avm_simulation_failed" });
  expect(verdict.invalidMessage).toContain("transaction already in ledger: ");
  expect((await facilitator.settle(first.payload, first.requirements)).success).toBe(false);
});

test("a body that is not a payment is answered 400, without a verdict", async () => {
  for (const path of ["verify", "settle"])
    for (const body of ["{", "{}", '{"paymentPayload":{"x402Version":2}}'])
      expect((await fetch(`${sandbox.facilitatorUrl}/${path}`, { method: "POST", body })).status).toBe(400);
});

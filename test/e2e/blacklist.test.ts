import type { PaymentRequirements } from "@x402/core/types";
import { type Address, createWalletClient, http, parseAbi, publicActions } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { baseChain } from "../../packages/sandbox/src/base/chain.ts";
import { type Deployment, pay, payUntilAnswered, post, sign, startDeployment } from "./deployment.ts";
import { BASE_USDC, type Rail, railsOf } from "./rails.ts";

const FIAT_TOKEN = parseAbi([
  "function pauser() view returns (address)",
  "function pause()",
  "function unpause()",
  "function blacklist(address account)",
  "function unBlacklist(address account)",
]);
type Order =
  | { functionName: "pause" | "unpause"; args?: undefined }
  | { functionName: "blacklist" | "unBlacklist"; args: [Address] };

let deployment: Deployment;
let base: Rail;
const settlements: string[] = [];
beforeAll(async () => {
  const onRequest = ({ server, url }: { server: string; url: string }) => {
    if (server === "facilitator" && url === "/settle") settlements.push(url);
  };
  deployment = await startDeployment({ onRequest }, {}, { refreshMs: 1_000 });
  base = (await railsOf(deployment.sandbox)).base;
});
afterAll(() => deployment.close());

const attestUrl = () => `${deployment.url}/attest`;
const sample = () => ({ txid: deployment.sandbox.sampleTransactions.base as string });
const signed = () => sign(attestUrl(), sample(), base.client);
const payee = () => deployment.sandbox.payTo.base as Address;
const obey = (text: string) => deployment.sandbox.facilitators.base?.[0]?.behave(text);

/** Does what only Circle may do with the real token. */
async function asCircle(order: Order): Promise<void> {
  const url = deployment.sandbox.baseRpcUrl as string;
  const client = createWalletClient({ chain: baseChain(url), transport: http(), pollingInterval: 50 }).extend(
    publicActions,
  );
  const token = { address: BASE_USDC, abi: FIAT_TOKEN } as const;
  const account = await client.readContract({ ...token, functionName: "pauser" });
  await client.request({ method: "anvil_impersonateAccount", params: [account] } as never);
  const hash = await client.writeContract({ ...token, ...order, account } as never);
  expect((await client.waitForTransactionReceipt({ hash })).status).toBe("success");
}

/** Waits until `/ready` names the reason why nothing is sold on Base; undefined: until it names none. */
async function untilClosed(reason: string | undefined): Promise<void> {
  const expected = reason === undefined ? [] : [`nothing is sold on eip155:8453: ${reason}`];
  const reasons = async () =>
    ((await (await fetch(`${deployment.url}/ready`)).json()) as { reasons: string[] }).reasons;
  await expect.poll(reasons, { timeout: 40_000, interval: 200 }).toEqual(expected);
}

const CLOSED: { why: string; order: () => Order; undo: () => Order }[] = [
  {
    why: "can be paid nothing while USDC is paused",
    order: () => ({ functionName: "pause" }),
    undo: () => ({ functionName: "unpause" }),
  },
  {
    why: "is on USDC's blacklist",
    order: () => ({ functionName: "blacklist", args: [payee()] }),
    undo: () => ({ functionName: "unBlacklist", args: [payee()] }),
  },
];

test.each(CLOSED)("a payee on Base that $why: payers are told at once, and nobody pays twice", async (closed) => {
  const clause = `rails.base.pay_to ${closed.why}`;
  settlements.length = 0;
  const [held, fresh] = [await signed(), await signed()];
  const before = await base.received();
  // The facilitator has a payment and does not settle it: it may do so until the payment expires.
  obey("settle=refused:no");
  const holding = pay(attestUrl(), sample(), held);
  await expect.poll(() => settlements.length, { timeout: 20_000 }).toBeGreaterThan(0);
  await asCircle(closed.order());
  await untilClosed(clause);

  const told = { status: 503, json: { detail: expect.stringContaining(clause) } };
  expect(await holding).toMatchObject({ ...told, json: { ...told.json, code: "settlement_pending" } });
  expect(await pay(attestUrl(), sample(), fresh)).toMatchObject({
    ...told,
    json: { ...told.json, code: "facilitator_unavailable" },
  });
  const { json } = await post(attestUrl(), sample());
  expect((json.accepts as PaymentRequirements[]).map(({ network }) => network)).not.toContain("eip155:8453");

  await asCircle(closed.undo());
  obey("");
  await untilClosed(undefined);
  for (const payment of [held, fresh])
    expect(await payUntilAnswered(attestUrl(), sample(), payment)).toMatchObject({ status: 200 });
  expect((await base.received()) - before).toBe(2_000n);
});

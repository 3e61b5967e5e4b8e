import type { ProofBundle } from "@attestd/proof";
import { decodePaymentRequiredHeader, decodePaymentResponseHeader } from "@x402/core/http";
import type { PaymentPayload } from "@x402/core/types";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { type Iou, sealOf } from "../../packages/service/test/fakes/moon/iou.ts";
import { startMoon } from "../../packages/service/test/fakes/moon/node.ts";
import type * as DeploymentModule from "./deployment.ts";

/*
 * A new rail is a folder in `payment/rails/` and a line in its registry. The Moon is made up
 * (packages/service/test/fakes/moon): nothing else in the project names it.
 */

const LINES = new URL("../../packages/service/test/fakes/moon/lines.ts", import.meta.url);

type Fresh = { tools: typeof DeploymentModule; operator: typeof import("@attestd/service/operator") };
let fresh: Fresh;
let deployment: DeploymentModule.Deployment;
let moon: Awaited<ReturnType<typeof startMoon>>;

beforeAll(async () => {
  moon = await startMoon();
  // Test files share modules: load them again, with the line.
  vi.resetModules();
  await import(LINES.href);
  fresh = { tools: await import("./deployment.ts"), operator: await import("@attestd/service/operator") };
  deployment = await fresh.tools.startDeployment({ networks: [] });
  const { facilitators } = deployment.settings.tables;
  await deployment.restart({
    chains: { moon: { rpc: [moon.url] } },
    rails: { moon: { pay_to: "us" } },
    facilitators: [...(facilitators as object[]), { url: moon.url, rails: ["moon"] }],
  });
});
afterAll(async () => {
  await deployment?.close();
  await moon?.close();
  vi.resetModules();
});

const operating = () => ({ sandbox: true, signal: AbortSignal.timeout(60_000) });
const audit = () => fresh.operator.auditJournal(deployment.settings, operating());

/** Buys an attestation with an IOU. */
async function buy(serial: string) {
  const url = `${deployment.url}/attest`;
  const body = { txid: deployment.sandbox.sampleTransactions.algorand };
  const { headers } = await fresh.tools.post(url, body);
  const { accepts, resource } = decodePaymentRequiredHeader(headers.get("payment-required") as string);
  const accepted = accepts.find(({ network }) => network === "moon:sea-of-tranquility") ?? expect.fail("no offer");
  const iou: Omit<Iou, "seal"> = { serial, drawer: "Selene", bearer: accepted.payTo, shells: accepted.amount };
  const payment: PaymentPayload = { x402Version: 2, resource, accepted, payload: { ...iou, seal: sealOf(iou) } };
  return { accepted, answer: await fresh.tools.payUntilAnswered(url, body, payment) };
}

test("a rail that is a folder and a line is sold by, shown in documents, audited and examined", async () => {
  const { accepted, answer } = await buy("00000042");
  expect(accepted).toMatchObject({ asset: "shells", payTo: "us", extra: { tide: "low", feePayer: "man-in-the-moon" } });
  expect(answer.status, answer.text).toBe(200);
  expect((JSON.parse(answer.text) as ProofBundle).network).toBe("algorand-mainnet");
  const receipt = decodePaymentResponseHeader(answer.headers.get("payment-response") as string);
  expect(receipt).toMatchObject({ success: true, transaction: "crater-1", network: "moon:sea-of-tranquility" });

  const openapi = JSON.stringify(await (await fetch(`${deployment.url}/openapi.json`)).json());
  expect(openapi).toContain("the Moon: its craters.");
  expect(openapi).toContain("on Algorand, on Solana, or on the Moon");
  const now = await (await fetch(`${deployment.url}/networks/moon:sea-of-tranquility`)).json();
  expect(now).toEqual({ network: "moon:sea-of-tranquility", craters: 1 });
  expect(await (await fetch(`${deployment.url}/llms.txt`)).text()).toContain("shells");

  expect(await audit()).toMatchObject({ verdict: "clean", counts: { calls: 1, settled: 1, delivered: 1 } });

  const found = await Array.fromAsync(
    fresh.operator.examine(deployment.settings, { ...operating(), isStarting: true }),
  );
  const { host } = new URL(moon.url);
  expect(found.filter(({ subject }) => subject === "moon")).toEqual([
    { subject: "moon", mark: "ok", message: `chains.moon.rpc: ${host} shows 1 craters.` },
  ]);
  const about = (subject: string) => found.filter((one) => one.subject === subject).map(({ message }) => message);
  expect(about("payees")).toContain("rails.moon.pay_to: us can be paid USDC.");
  expect(about("facilitators")).toContainEqual(expect.stringMatching(/ settles moon:sea-of-tranquility, /));
});

test("the audit of a rail that is a folder and a line finds a payment that vanished, and one that the journal lacks", async () => {
  const other: Omit<Iou, "seal"> = { serial: "00000077", drawer: "Selene", bearer: "us", shells: "1000" };
  const [paid] = moon.craters.splice(0, 1, { ...other, seal: sealOf(other) });
  const { findings } = await audit();
  if (paid) moon.craters.splice(0, 1, paid);
  expect(findings).toMatchObject([
    { severity: "violation", code: "row_paid_but_chain_disagrees", key: "moon:serial/00000042" },
    { severity: "open", code: "payment_without_row", key: "moon:serial/00000077" },
  ]);
});

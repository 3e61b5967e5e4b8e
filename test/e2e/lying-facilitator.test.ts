import { attest, keyWallet, memoryVault, type Progress } from "@attestd/client";
import type { ProofBundle } from "@attestd/proof";
import { auditJournal } from "@attestd/service/operator";
import type { PaymentPayload } from "@x402/core/types";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Deployment, pay, payUntilAnswered, sign, startDeployment } from "./deployment.ts";
import { facilitatorSettings } from "./facilitator-settings.ts";
import { type RailName, railsOf } from "./rails.ts";
import { type Buy, type TransportName, transportsOf } from "./transports.ts";

const NAMES: RailName[] = ["base", "algorand", "solana"];
/** Until the facilitator settles what it has refused, in ms: by then its refusal has long been answered. */
const KEPT_MS = 3_000;

let deployment: Deployment;
let rails: Awaited<ReturnType<typeof railsOf>>;
beforeAll(async () => {
  // An Algorand payment lives for 60 rounds.
  deployment = await startDeployment({ roundMs: 500, facilitators: ["stock", "goplausible"] });
  rails = await railsOf(deployment.sandbox);
});
afterAll(() => deployment.close());

const attestUrl = () => `${deployment.url}/attest`;
const sample = () => ({ txid: deployment.sandbox.sampleTransactions.base as string });
const signed = (name: RailName) => sign(attestUrl(), sample(), rails[name].client);
const first = () => deployment.sandbox.facilitators.base?.[0];

const BY_HTTP: Order = ["HTTP", "MCP", "A2A"];
const BY_MCP: Order = ["MCP", "A2A", "HTTP"];
const BY_A2A: Order = ["A2A", "HTTP", "MCP"];
/** The transport by which a payment comes first, and those by which it comes back. */
type Order = [TransportName, TransportName, TransportName];

/**
 * Sends a payment until it is delivered for. Before, the answer may be that it is under way; or a 402 that asks for the same
 * payment again, while Solana has processed it and not confirmed it.
 */
async function bundleOf(buy: Buy, txid: string, payment: PaymentPayload): Promise<ProofBundle> {
  for (;;) {
    const outcome = await buy(txid, payment);
    if (outcome.kind === "delivered") return outcome.bundle;
    // Another 402 would have the payer pay twice.
    if (outcome.kind === "payment_required") expect(outcome.error).toContain("send it again before you sign another");
    else if (!["payment_unknown", "settlement_pending", "attestation_pending"].includes(`${outcome.code}`))
      throw new Error(`${outcome.code}`);
  }
}

/** Lets the first facilitator alone settle each rail. */
function useOne(): Promise<void> {
  const { algorand, base = [], solana = [] } = deployment.sandbox.facilitators;
  const one = { algorand: algorand.slice(0, 1), base: base.slice(0, 1), solana: solana.slice(0, 1) };
  return deployment.restart(facilitatorSettings(deployment.sandbox, one));
}

describe("a facilitator that refuses a payment, keeps it, and settles it later", () => {
  beforeAll(useOne);

  test.each(NAMES)("has it delivered for on %s to whoever brings it again, also after a restart", async (name) => {
    const before = await rails[name].received();
    const received = async () => (await rails[name].received()) - before;
    const payment = await signed(name);
    first()?.behave(`verify=kept:${KEPT_MS}*1`);
    const refused = await pay(attestUrl(), sample(), payment);
    expect(refused).toMatchObject({
      status: 402,
      json: { error: expect.stringContaining("send it again before you sign another") },
    });
    expect(await received()).toBe(0n);
    await deployment.restart();
    await expect.poll(received, { timeout: 20_000, interval: 200 }).toBe(1_000n);

    const other = { txid: deployment.sandbox.sampleTransactions.algorand as string };
    if (name === "algorand")
      expect(await pay(attestUrl(), other, payment)).toMatchObject({
        status: 409,
        json: { code: "payment_bound_to_other_request" },
      });
    const audit = () => auditJournal(deployment.settings, { sandbox: true, signal: AbortSignal.timeout(60_000) });
    const message = expect.stringContaining("owed to whoever sends it again");
    // The audit reads what is final, which the payment is some blocks after the payee has it.
    await expect.poll(audit, { timeout: 60_000, interval: 500 }).toMatchObject({
      verdict: "open",
      counts: { unaccounted: 1 },
      findings: [{ code: "payment_without_row", message }],
    });

    const bought = await payUntilAnswered(attestUrl(), sample(), payment);
    expect([bought.status, bought.json.version]).toEqual([200, 1]);
    expect(await pay(attestUrl(), sample(), payment)).toMatchObject({ status: 200, text: bought.text });
    expect(await received()).toBe(1_000n);
  });

  test("is paid once by the client, which keeps the payment and sends it again before it signs another", async () => {
    const before = await rails.base.received();
    const keys = deployment.sandbox.payers as Parameters<typeof keyWallet>[0];
    const wallet = keyWallet(keys);
    let signatures = 0;
    const progress: Progress[] = [];
    const buy = () =>
      attest({
        service: deployment.url,
        ...sample(),
        wallet: {
          payer: (network) => (network === rails.base.network ? wallet.payer(network) : undefined),
          sign: (...given) => {
            signatures += 1;
            return wallet.sign(...given);
          },
        },
        maxPrice: "0.01",
        vault,
        onProgress: (event) => progress.push(event),
      });
    const vault = memoryVault();
    first()?.behave(`verify=kept:${KEPT_MS}*1`);
    await expect(buy()).rejects.toMatchObject({ code: "not_paid", until: expect.any(Number) });
    await expect.poll(rails.base.received, { timeout: 20_000 }).toBe(before + 1_000n);
    const { bundle } = await buy();
    expect(bundle.source.txnId).toBe(sample().txid);
    expect([signatures, (await rails.base.received()) - before]).toEqual([1, 1_000n]);
    expect(progress.at(-1)?.step).not.toBe("signed");
  });
});

describe("a facilitator that gives no answer about a payment, keeps it, and settles it later", () => {
  beforeAll(useOne);

  test.each(NAMES)("has it delivered for on %s, over whatever transport it comes back", async (name) => {
    const before = await rails[name].received();
    const received = async () => (await rails[name].received()) - before;
    const [from, ...back] = { base: BY_HTTP, algorand: BY_MCP, solana: BY_A2A }[name];
    await using transports = await transportsOf(deployment.url);
    const { txid } = sample();
    const payment = await signed(name);
    first()?.behave(`verify=swallowed:${KEPT_MS}*1`);
    expect(await transports[from](txid, payment)).toMatchObject({ kind: "problem", code: "facilitator_unavailable" });
    await expect.poll(received, { timeout: 20_000, interval: 200 }).toBe(1_000n);
    const bundles = await Promise.all(back.map((transport) => bundleOf(transports[transport], txid, payment)));
    expect(bundles.map(({ source }) => source.txnId)).toEqual([txid, txid]);
    expect(bundles[0]).toEqual(bundles[1]);
    expect(await received()).toBe(1_000n);
  });
});

describe("a payment that a facilitator refused and settled later", () => {
  beforeAll(useOne);

  test.each([BY_HTTP, BY_MCP, BY_A2A])(
    "and that was brought by %s is delivered for by %s and %s, and never to a stranger's subject or signature",
    async (from, ...back) => {
      const before = await rails.base.received();
      const received = async () => (await rails.base.received()) - before;
      await using transports = await transportsOf(deployment.url);
      const { txid } = sample();
      const stranger = deployment.sandbox.sampleTransactions.algorand as string;
      const payment = await signed("base");
      first()?.behave(`verify=kept:${KEPT_MS}*1`);
      expect(await transports[from](txid, payment)).toMatchObject({ kind: "payment_required" });
      await expect.poll(received, { timeout: 20_000, interval: 200 }).toBe(1_000n);

      const forged = { ...payment, payload: { ...payment.payload, signature: `0x${"11".repeat(65)}` } };
      for (const transport of [from, ...back]) {
        expect(await transports[transport](txid, forged)).toMatchObject({ kind: "payment_required" });
        expect(await transports[transport](stranger, payment)).not.toMatchObject({ kind: "delivered" });
      }
      const bundles = await Promise.all(back.map((transport) => bundleOf(transports[transport], txid, payment)));
      expect(bundles[0]).toEqual(bundles[1]);
      expect(await received()).toBe(1_000n);
    },
  );
});

describe("where another facilitator is configured", () => {
  beforeAll(() => deployment.restart(facilitatorSettings(deployment.sandbox, {})));

  test("it is asked before the 402 on Base, and settles", async () => {
    const before = await rails.base.received();
    first()?.behave("verify=refused:kyt_risk_detected*1");
    expect(await payUntilAnswered(attestUrl(), sample(), await signed("base"))).toMatchObject({ status: 200 });
    expect((await rails.base.received()) - before).toBe(1_000n);
  });

  test.each(["algorand", "solana"] as const)(
    "it is not asked on %s, whose payments name another's fee payer",
    async (name) => {
      first()?.behave("verify=refused:kyt_risk_detected*1");
      const refused = await pay(attestUrl(), sample(), await signed(name));
      expect(refused).toMatchObject({ status: 402, json: { error: expect.stringContaining("kyt_risk_detected") } });
    },
  );
});

import { attest, keyWallet, memoryVault, type Progress } from "@attestd/client";
import { auditJournal } from "@attestd/service/operator";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Deployment, pay, payUntilAnswered, sign, startDeployment } from "./deployment.ts";
import { facilitatorSettings } from "./facilitator-settings.ts";
import { type RailName, railsOf } from "./rails.ts";

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

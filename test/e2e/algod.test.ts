import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { algorandClient, type Deployment, pay, payUntilAnswered, sign, startDeployment } from "./deployment.ts";
import { outsider } from "./ledger.ts";

/* Purchases while our own algod is behind, fails to submit, or keeps few blocks, as real nodes do at times. */

let deployment: Deployment;
let submissions = 0;
let onSubmission: () => void = () => undefined;
beforeAll(async () => {
  deployment = await startDeployment({
    networks: [],
    onRequest({ server, method, url }) {
      if (server !== "algod" || method !== "POST" || !url.startsWith("/v2/transactions")) return;
      submissions += 1;
      onSubmission();
    },
  });
});
afterAll(() => deployment.close());

const usual = { behind: 0, submit: "accepted", keptRounds: 0 } as const;
afterEach(() => {
  onSubmission = () => undefined;
  Object.assign(deployment.sandbox.algorand.behaviour, usual);
});

const sample = () => ({ txid: deployment.sandbox.sampleTransactions.algorand });
const attestUrl = () => `${deployment.url}/attest`;
const signed = (url = attestUrl(), body: unknown = sample()) => sign(url, body, algorandClient(deployment.sandbox));

test("a payment made while our node is behind is asked for again, and is never refused for that", async () => {
  const { behaviour, ledger } = deployment.sandbox.algorand;
  while (ledger.round < 110) ledger.advance();
  behaviour.behind = 80;
  const payment = await signed();
  const statuses: number[] = [];
  for (let status = 0; status !== 200; ) {
    ({ status } = await pay(attestUrl(), sample(), payment));
    statuses.push(status);
    expect([200, 503]).toContain(status);
    behaviour.behind = 0;
  }
  expect(statuses).toContain(200);
});

test.each(["queue-full", "pool-full", "no-evaluator"] as const)(
  "an attestation whose submission a node answers with %s is submitted again, recorded once and delivered",
  async (submit) => {
    const before = (await outsider(deployment.sandbox).attestations()).length;
    const payment = await signed();
    const { behaviour } = deployment.sandbox.algorand;
    behaviour.submit = submit;
    submissions = 0;
    // The node works again after it has answered once.
    onSubmission = () => {
      if (submissions > 1) behaviour.submit = "accepted";
    };
    expect(await payUntilAnswered(attestUrl(), sample(), payment)).toMatchObject({ status: 200 });
    expect(await outsider(deployment.sandbox).attestations()).toHaveLength(before + 1);
  },
);

test("a block that no node keeps any more is refused for good, and the payment can buy something else", async () => {
  const url = `${deployment.url}/attest-block`;
  const old = { chain: "algorand", height: 1 };
  const payment = await signed(url, old);
  deployment.sandbox.algorand.behaviour.keptRounds = 2;
  expect(await pay(url, old, payment)).toMatchObject({ status: 404, json: { code: "source_not_kept" } });
  deployment.sandbox.algorand.behaviour.keptRounds = 0;
  expect(await payUntilAnswered(url, old, payment)).toMatchObject({ status: 200 });
});

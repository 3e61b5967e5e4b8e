import { describe, expect, test } from "vitest";
import { testBatch } from "../../../test/bundles/batches.ts";
import { testHistory, testPayment } from "../../../test/bundles/bundles.ts";
import { BASE_OFFER, basePayment, delivery, fakeService, paymentRequired, type Reply } from "../test/fake-service.ts";
import { type AttestBatchOptions, attestBatch, batchRequest, quote } from "./batch.ts";
import { memoryVault, paymentId } from "./vault.ts";

const ITEMS = Array.from({ length: 5 }, (_, n) => ({ chain: "algorand", txnBytes: testPayment(`payment ${n}`) }));
const answer = testBatch(ITEMS);
const bytes = (value: object) => new TextEncoder().encode(JSON.stringify(value));
const ids = answer.items.map(({ source }) => source.txnId);
const items = ids.map((txid) => ({ txid }));
const offered = paymentRequired([{ ...BASE_OFFER, amount: "1500" }]);

function purchase({ url }: { url: string }, more: Partial<AttestBatchOptions> = {}) {
  let signed = 0;
  const wallet = {
    payer: () => "PAYER",
    sign: async (_: unknown, offer: typeof BASE_OFFER, dateMs: number) => {
      signed += 1;
      return basePayment(offer, signed, dateMs);
    },
  };
  const clock = { now: Date.now, wait: async () => undefined };
  const options: AttestBatchOptions = {
    ...{ service: url, items, wallet, maxPrice: "0.01", trust: testHistory(), vault: memoryVault(), clock },
    ...more,
  };
  const stored = () => options.vault.get(paymentId(url, batchRequest(options)));
  return { options, stored, signed: () => signed, run: () => attestBatch(options) };
}

const failing = (code: string, more: object = {}) => expect.objectContaining({ name: "AttestError", code, ...more });

describe("attestBatch", () => {
  test("buys every item for one payment, and verifies each as a bundle of its own", async () => {
    await using service = await fakeService(offered, delivery(bytes(answer)));
    const { run, signed, stored } = purchase(service);
    const attestation = await run();
    expect(attestation.items.map(({ report }) => report.verified)).toEqual(ids.map(() => true));
    for (const [index, { bundleBytes }] of attestation.items.entries())
      expect(JSON.parse(new TextDecoder().decode(bundleBytes))).toEqual({
        ...answer.items[index],
        batch: answer.batch,
      });
    expect(service.requests.map(({ path, body }) => [path, body])).toEqual([
      ["/attest-batch", { items }],
      ["/attest-batch", { items }],
    ]);
    expect(signed()).toBe(1);
    expect(await stored()).toBeUndefined();
  });

  test("reports the one item that is wrong", async () => {
    const [first, second, ...rest] = answer.items as [(typeof answer.items)[0], (typeof answer.items)[0]];
    const wrong = { ...second, statement: { ...second.statement, nonce: first.statement.nonce } };
    await using service = await fakeService(offered, delivery(bytes({ ...answer, items: [first, wrong, ...rest] })));
    const { items: bought } = await purchase(service).run();
    expect(bought.map(({ report }) => report.verified)).toEqual([true, false, true, true, true]);
  });

  test("keeps the payment where the answer is lost, and sends the same one again", async () => {
    await using service = await fakeService(offered, "cut short", "hang up", delivery(bytes(answer)));
    const { run, signed, stored } = purchase(service);
    await expect(run()).resolves.toMatchObject({ items: ids.map(() => ({ report: { verified: true } })) });
    expect(signed()).toBe(1);
    expect(new Set(service.requests.slice(1).map(({ header }) => header)).size).toBe(1);
    expect(await stored()).toBeUndefined();
  });

  test("keeps the payment where nothing could be saved, and delivers again", async () => {
    await using service = await fakeService(offered, delivery(bytes(answer)), delivery(bytes(answer)));
    const { run, signed, stored, options } = purchase(service, { save: () => Promise.reject(new Error("full")) });
    await expect(run()).rejects.toEqual(failing("save_failed"));
    expect(await stored()).toBeDefined();
    let saved = 0;
    const save = async (attestation: { items: readonly object[] }) => {
      saved = attestation.items.length;
    };
    await attestBatch({ ...options, save });
    expect([saved, signed()]).toEqual([5, 1]);
  });

  const other = testBatch(ITEMS.toReversed());
  test.each([
    ["a batch of other transactions", bytes(other)],
    ["fewer items", bytes(testBatch(ITEMS.slice(1)))],
    ["a bundle", bytes({ ...answer.items[0], batch: answer.batch })],
    ["no JSON", new TextEncoder().encode("batch")],
  ])("takes %s for no answer, and keeps the payment", async (_, body) => {
    await using service = await fakeService(offered, delivery(body));
    const { run, stored } = purchase(service);
    await expect(run()).rejects.toEqual(failing("paid_unfinished"));
    expect(await stored()).toBeDefined();
  });

  test("names every item that cannot be attested", async () => {
    const faults = [{ index: 3, code: "source_not_found" }];
    const body = {
      status: 404,
      code: "source_not_found",
      detail: "1 of 5",
      items: [...faults, "junk", { index: "0" }],
    };
    const refusal: Reply = { status: 404, body: JSON.stringify(body) };
    await using service = await fakeService(offered, refusal);
    const problem = expect.objectContaining({ code: "source_not_found", items: faults });
    await expect(purchase(service).run()).rejects.toEqual(failing("refused", { problem }));
  });

  test("is quoted without a signature", async () => {
    await using service = await fakeService(offered);
    const { options, signed } = purchase(service);
    expect(await quote(options, batchRequest(options))).toMatchObject({ amount: 1500n, payer: "PAYER" });
    expect(signed()).toBe(0);
  });
});

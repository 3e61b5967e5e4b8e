import { describe, expect, test } from "vitest";
import {
  testAttestor,
  testBaseBlock,
  testBlockBundle,
  testBundle,
  testHistory,
  testInclusionBundle,
  testPayment,
} from "../../../test/bundles/bundles.ts";
import {
  ALGORAND_OFFER,
  BASE_OFFER,
  basePayment,
  delivery,
  fakeService,
  hostileScript,
  paymentRequired,
  problem,
} from "../test/fake-service.ts";
import { type AttestOptions, attest, attestBlock, proveInclusion } from "./attest.ts";
import type { Progress } from "./call.ts";
import type { Clock } from "./clock.ts";
import { memoryVault, paymentId, type StoredPayment, type Vault } from "./vault.ts";
import type { Wallet } from "./wallet.ts";

const bundle = testBundle();
const bytes = new TextEncoder().encode(JSON.stringify(bundle));
const TXID = bundle.source.txnId;

/** Makes signatures 1, 2, 3, … */
function countingWallet(): Wallet & { signed: number } {
  const wallet = {
    signed: 0,
    payer: () => "PAYER",
    sign: async (_: unknown, offer: typeof BASE_OFFER, dateMs: number) => {
      wallet.signed++;
      return basePayment(offer, wallet.signed, dateMs);
    },
  };
  return wallet;
}

/** Returns which signature a header carries. */
function signatureOf(header: string | undefined): number | undefined {
  return header && JSON.parse(Buffer.from(header, "base64").toString()).payload.signature;
}

const wholeSeconds = (ms: number) => ms - (ms % 1000);

/** A clock that only waiting moves. */
function manualClock(startMs = Date.now()): Clock & { waits: number[] } {
  const clock = {
    waits: [] as number[],
    now: () => clock.waits.reduce((sum, ms) => sum + ms, startMs),
    wait: async (ms: number, signal: AbortSignal) => {
      signal.throwIfAborted();
      clock.waits.push(ms);
    },
  };
  return clock;
}

function purchase(service: { url: string; now?: () => number }, more: Partial<AttestOptions> = {}) {
  const wallet = countingWallet();
  const clock = (more.clock as ReturnType<typeof manualClock> | undefined) ?? manualClock();
  service.now = clock.now;
  const vault = memoryVault();
  const progress: Progress[] = [];
  const options: AttestOptions = {
    service: service.url,
    txid: TXID,
    wallet,
    maxPrice: "0.01",
    trust: testHistory(),
    vault,
    clock,
    onProgress: (event) => progress.push(event),
    ...more,
  };
  const stored = () => options.vault.get(paymentId(service.url, { path: "/attest", body: { txid: TXID } }));
  return { wallet, clock, progress, stored, run: () => attest(options) };
}

const failing = (code: string, more: object = {}) => expect.objectContaining({ name: "AttestError", code, ...more });

describe("attest buys", () => {
  test("one bundle, for one payment, and verifies it", async () => {
    await using service = await fakeService(paymentRequired([BASE_OFFER, ALGORAND_OFFER]), delivery(bytes));
    const { run, wallet, progress, stored } = purchase(service);
    const attestation = await run();

    expect(attestation.bundle).toEqual(bundle);
    expect(attestation.bundleBytes).toEqual(bytes);
    expect(attestation.report.verified).toBe(true);
    expect(attestation.receipt?.transaction).toBe("SETTLEMENT");
    expect(attestation.signedReceipt).toBeUndefined();
    expect(service.requests.map(({ header }) => signatureOf(header))).toEqual([undefined, 1]);
    expect(service.requests.map(({ body }) => body)).toEqual([{ txid: TXID }, { txid: TXID }]);
    expect(wallet.signed).toBe(1);
    expect(progress.map(({ step }) => step)).toEqual(["offered", "signed"]);
    expect(await stored()).toBeUndefined();
  });

  test("with its payment stored before it is sent", async () => {
    const vault = memoryVault();
    let storedWhenSent: StoredPayment | undefined;
    await using service = await fakeService(paymentRequired([BASE_OFFER]), async () => {
      storedWhenSent = await vault.get(paymentId(service.url, { path: "/attest", body: { txid: TXID } }));
      return delivery(bytes);
    });
    await purchase(service, { vault }).run();
    expect(storedWhenSent?.header).toBe(service.requests[1]?.header);
    expect(signatureOf(storedWhenSent?.header)).toBe(1);
  });

  test("with the payment kept until the bundle is saved", async () => {
    await using service = await fakeService(paymentRequired([BASE_OFFER]), delivery(bytes), delivery(bytes));
    let diskIsFull = true;
    const saved: Uint8Array[] = [];
    const { run, wallet, stored } = purchase(service, {
      save: async ({ bundleBytes }) => {
        expect(await stored()).toBeDefined();
        if (diskIsFull) throw new Error("disk full");
        saved.push(bundleBytes);
      },
    });
    await expect(run()).rejects.toEqual(failing("save_failed", { paymentId: expect.stringContaining(TXID) }));
    diskIsFull = false;
    await run();
    expect(saved).toEqual([bytes]);
    expect(wallet.signed).toBe(1);
    expect(await stored()).toBeUndefined();
  });

  test("and lets the caller keep a bundle of a signer that it does not believe", async () => {
    await using service = await fakeService(paymentRequired([BASE_OFFER]), delivery(bytes));
    const saved: boolean[] = [];
    const { report } = await purchase(service, {
      trust: testHistory([{ attestor: testAttestor("someone else"), fromRound: 1 }]),
      save: async (attestation) => void saved.push(attestation.report.verified),
    }).run();
    expect(report).toMatchObject({ verified: false, attestor: { status: "unknown" } });
    expect(saved).toEqual([false]);
  });

  test("a Base hash under its one spelling", async () => {
    await using service = await fakeService(problem(404, "source_not_found"));
    await expect(purchase(service, { txid: `0x${"AB".repeat(32)}`, chain: "base" }).run()).rejects.toThrow();
    expect(service.requests[0]?.body).toEqual({ txid: `0x${"ab".repeat(32)}`, chain: "base" });
  });
});

describe("a transaction that failed", () => {
  test("is refused where success is required, and bought with the same payment where it no longer is", async () => {
    await using service = await fakeService(
      paymentRequired([BASE_OFFER]),
      problem(409, "transaction_failed"),
      delivery(bytes),
    );
    const vault = memoryVault();
    const wanting = purchase(service, { vault, require: "succeeded" });
    await expect(wanting.run()).rejects.toEqual(
      failing("refused", { problem: expect.objectContaining({ code: "transaction_failed" }) }),
    );
    expect((await purchase(service, { vault }).run()).bundle).toEqual(bundle);
    expect(service.requests.map(({ header }) => signatureOf(header))).toEqual([undefined, 1, 1]);
    const wanted = { txid: TXID, require: "succeeded" };
    expect(service.requests.map(({ body }) => body)).toEqual([wanted, wanted, { txid: TXID }]);
  });
});

describe("blocks and proofs of inclusion", () => {
  const block = testBlockBundle({ block: testBaseBlock(2) });
  const inclusion = testInclusionBundle({ block: testBaseBlock(2), index: 1 });
  const { height } = block.block;
  const { txnId: txId } = inclusion.source;
  const encoded = (of: object) => new TextEncoder().encode(JSON.stringify(of));
  const common = (service: { url: string }) => ({
    service: service.url,
    wallet: countingWallet(),
    maxPrice: "0.01",
    trust: testHistory(),
    vault: memoryVault(),
    clock: manualClock(),
  });

  test("are bought and verified as transactions are", async () => {
    const offer = paymentRequired([BASE_OFFER]);
    await using service = await fakeService(offer, delivery(encoded(block)), offer, delivery(encoded(inclusion)));
    const attested = await attestBlock({ ...common(service), chain: "base", height });
    const upper = txId.toUpperCase().replace("0X", "0x");
    const proven = await proveInclusion({ ...common(service), chain: "base", txId: upper, height });
    expect(service.requests.map(({ path, body }) => [path, body])).toEqual([
      ["/attest-block", { chain: "base", height }],
      ["/attest-block", { chain: "base", height }],
      ["/prove-tx-inclusion", { chain: "base", txId, height }],
      ["/prove-tx-inclusion", { chain: "base", txId, height }],
    ]);
    expect([attested.bundle, attested.report.verified]).toEqual([block, true]);
    expect([proven.bundle, proven.report.verified]).toEqual([inclusion, true]);
  });

  test.each<[string, object, (service: { url: string }) => Promise<unknown>]>([
    ["another height", block, (service) => attestBlock({ ...common(service), chain: "base", height: height + 1 })],
    ["another chain", block, (service) => attestBlock({ ...common(service), chain: "algorand", height })],
    ["another kind", inclusion, (service) => attestBlock({ ...common(service), chain: "base", height })],
    ["a transaction alone", bundle, (service) => attestBlock({ ...common(service), chain: "base", height })],
    ["no proof", block, (service) => proveInclusion({ ...common(service), chain: "base", txId, height })],
    ["another block", inclusion, (service) => proveInclusion({ ...common(service), chain: "base", txId, height: 1 })],
    [
      "another transaction",
      inclusion,
      (service) => proveInclusion({ ...common(service), chain: "base", txId: TXID, height }),
    ],
    ["a proof instead of an attestation", inclusion, (service) => attest({ ...common(service), txid: txId })],
  ])("of %s are not what was paid for", async (_, delivered, buy) => {
    await using service = await fakeService(paymentRequired([BASE_OFFER]), delivery(encoded(delivered)));
    await expect(buy(service)).rejects.toEqual(failing("paid_unfinished", { paymentId: expect.any(String) }));
  });

  test("each have a payment of their own in the vault", () => {
    const ids = [
      paymentId("http://s", { path: "/attest", body: { txid: txId } }),
      paymentId("http://s", { path: "/attest-block", body: { chain: "base", height } }),
      paymentId("http://s", { path: "/attest-block", body: { chain: "algorand", height } }),
      paymentId("http://s", { path: "/prove-tx-inclusion", body: { chain: "base", txId, height } }),
      paymentId("http://s", { path: "/prove-tx-inclusion", body: { chain: "base", txId, height: 1 } }),
    ];
    expect(new Set(ids).size).toBe(ids.length);
  });
});

describe("a payment that was sent is sent again, never another", () => {
  test.each([
    ["no answer", "hang up" as const],
    ["an answer cut short", "cut short" as const],
    ["503", problem(503, "attestation_pending", { sameHeader: true })],
    ["500", problem(500, "internal")],
    ["a proxy's 502", { status: 502, body: "<html>" }],
    ["429", problem(429, "too_many_requests")],
    ["409 source_not_final", problem(409, "source_not_final")],
  ])("after %s", async (_, reply) => {
    await using service = await fakeService(paymentRequired([BASE_OFFER]), reply, reply, delivery(bytes));
    const { run, wallet, progress } = purchase(service);
    await run();
    expect(service.requests.map(({ header }) => signatureOf(header))).toEqual([undefined, 1, 1, 1]);
    expect(new Set(service.requests.slice(1).map(({ header }) => header)).size).toBe(1);
    expect(wallet.signed).toBe(1);
    expect(progress.map(({ step }) => step)).toEqual(["offered", "signed", "waiting", "waiting"]);
  });

  test("when the service says: Retry-After, else ever later", async () => {
    await using service = await fakeService(
      paymentRequired([BASE_OFFER]),
      problem(503, "settlement_pending", { sameHeader: true, retryAfter: 7 }),
      "hang up",
      "hang up",
      problem(503, "attestation_pending", { sameHeader: true, retryAfter: 0 }),
      delivery(bytes),
    );
    const { run, clock } = purchase(service);
    await run();
    expect(clock.waits).toEqual([7000, 2000, 4000, 250]);
  });

  test("until the time is over; the next call takes it up, also with another wallet and price", async () => {
    const pending = problem(503, "attestation_pending", { sameHeader: true, retryAfter: 60 });
    await using service = await fakeService(paymentRequired([BASE_OFFER]), ...Array(4).fill(pending), delivery(bytes));
    const vault = memoryVault();
    const first = purchase(service, { vault, maxWaitMs: 200_000 });
    const start = first.clock.now();
    await expect(first.run()).rejects.toEqual(
      failing("paid_unfinished", {
        paymentId: expect.stringContaining(TXID),
        problem: expect.objectContaining({ code: "attestation_pending" }),
      }),
    );
    expect(first.clock.now() - start).toBe(180_000);

    const second = purchase(service, { vault, maxPrice: "0" });
    expect((await second.run()).bundle).toEqual(bundle);
    expect(second.wallet.signed).toBe(0);
    expect(second.progress.map(({ step }) => step)).toEqual(["resumed"]);
    expect(service.requests.map(({ header }) => signatureOf(header))).toEqual([undefined, 1, 1, 1, 1, 1]);
    expect(await second.stored()).toBeUndefined();
  });

  test("also when the service is gone at the end", async () => {
    await using service = await fakeService(paymentRequired([BASE_OFFER]), "hang up");
    const { run, stored } = purchase(service, { maxWaitMs: 500 });
    await expect(run()).rejects.toEqual(
      failing("paid_unfinished", { paymentId: expect.stringContaining(TXID), problem: undefined }),
    );
    expect(await stored()).toBeDefined();
  });

  test("and a refusal that charged nothing is told as that", async () => {
    await using service = await fakeService(paymentRequired([BASE_OFFER]), problem(503, "providers_unavailable"));
    await expect(purchase(service, { maxWaitMs: 500 }).run()).rejects.toEqual(
      failing("refused", { paymentId: expect.stringContaining(TXID) }),
    );
  });

  test("by two callers at once: the first one's payment serves both", async () => {
    const vault = memoryVault();
    const required = paymentRequired([BASE_OFFER]);
    await using service = await fakeService(required, required, delivery(bytes), delivery(bytes));
    const callers = [purchase(service, { vault }), purchase(service, { vault })];
    await Promise.all(callers.map(({ run }) => run()));
    const sent = service.requests.map(({ header }) => header).filter((header) => header !== undefined);
    expect(sent).toHaveLength(2);
    expect(new Set(sent).size).toBe(1);
  });
});

describe("another payment is signed only when the earlier one can no longer be taken:", () => {
  const expired = paymentRequired([BASE_OFFER], "expired");
  /** 120 s of validity, plus the minute that the chain's clock may be behind. */
  const UNTIL_MS = 180_000;

  test("not after a 402 at once, whose reason is told; the next call sends the same one again", async () => {
    const refused = paymentRequired([BASE_OFFER], "insufficient_funds");
    await using service = await fakeService(paymentRequired([BASE_OFFER]), refused, refused, delivery(bytes));
    const vault = memoryVault();
    const first = purchase(service, { vault });
    await expect(first.run()).rejects.toEqual(
      failing("not_paid", {
        message: "insufficient_funds",
        paymentId: expect.stringContaining(TXID),
        until: wholeSeconds(first.clock.now()) + UNTIL_MS,
        signed: 1000n,
      }),
    );
    expect(await first.stored()).toBeDefined();
    const second = purchase(service, { vault });
    await expect(second.run()).rejects.toEqual(failing("not_paid", { signed: 0n }));
    expect((await purchase(service, { vault }).run()).bundle).toEqual(bundle);
    expect(service.requests.map(({ header }) => signatureOf(header))).toEqual([undefined, 1, 1, 1]);
  });

  test.each([
    ["waiting", problem(503, "settlement_pending", { sameHeader: true })],
    ["being not final", problem(409, "source_not_final")],
  ])("after %s and a 402, it is sent again when it has expired, and then another is signed", async (_, reply) => {
    await using service = await fakeService(
      ...[paymentRequired([BASE_OFFER]), reply, expired, expired, delivery(bytes)],
    );
    const { run, clock, progress } = purchase(service);
    const start = clock.now();
    await run();
    expect(service.requests.map(({ header }) => signatureOf(header))).toEqual([undefined, 1, 1, 1, 2]);
    expect(clock.now()).toBe(wholeSeconds(start) + UNTIL_MS);
    expect(progress.map(({ step }) => step)).toEqual(
      ["offered", "signed", "waiting", "refused", "offered", "signed"], // every signature is reported
    );
  });

  test("whenever it expires while a source is waited for", async () => {
    const [unknown, early] = [problem(404, "source_not_found"), problem(409, "source_not_final", { retryAfter: 9 })];
    await using service = await fakeService(
      ...[paymentRequired([BASE_OFFER]), unknown, expired, expired, early, early, expired, expired, early],
      delivery(bytes),
    );
    const { run } = purchase(service, { maxWaitMs: 1, maxSourceWaitMs: 600_000 });
    await run();
    const sent = service.requests.map(({ header }) => signatureOf(header));
    expect(sent).toEqual([undefined, 1, 1, 1, 2, 2, 2, 2, 3, 3]);
  });

  test("not within a wait that ends before", async () => {
    await using service = await fakeService(
      ...[paymentRequired([BASE_OFFER]), problem(404, "source_not_found"), expired],
    );
    const { run, wallet, stored } = purchase(service, { maxSourceWaitMs: 60_000 });
    await expect(run()).rejects.toEqual(failing("not_paid", { paymentId: expect.stringContaining(TXID) }));
    expect([wallet.signed, (await stored()) !== undefined]).toEqual([1, true]);
  });

  test("a hostile service that answers every payment with 404 and then 402 gets one in three minutes, and no more in all than the price allowed", async () => {
    await using service = await fakeService(...hostileScript());
    const { run, wallet, clock } = purchase(service, { maxPrice: "0.003", maxSourceWaitMs: 1_800_000 });
    const start = clock.now();
    await expect(run()).rejects.toEqual(failing("price_too_high", { price: 4000n, signed: 3000n }));
    expect(wallet.signed).toBe(3);
    expect(clock.now() - start).toBeGreaterThan(3 * (UNTIL_MS - 2000));
  });

  test("nor does a hostile service get two at a time by a short validity, or by a Date of the past", async () => {
    await using service = await fakeService(...hostileScript({ ...BASE_OFFER, maxTimeoutSeconds: 1 }));
    const signedAt: number[] = [];
    const { run, clock } = purchase(service, {
      maxPrice: "0.003",
      maxSourceWaitMs: 600_000,
      onProgress: ({ step }) => step === "signed" && signedAt.push(clock.now()),
    });
    // The signature expires at once by this device's clock, and a second later by the service's.
    service.now = () => clock.now() - 3_600_000;
    await expect(run()).rejects.toEqual(failing("price_too_high", { signed: 3000n }));
    expect(signedAt).toHaveLength(3);
    for (const [n, at] of signedAt.slice(1).entries()) expect(at - (signedAt[n] ?? 0)).toBeGreaterThanOrEqual(60_000);
  });

  test("nor by a Date of the future: the payment is taken to be valid until then", async () => {
    await using service = await fakeService(...hostileScript());
    const { run, wallet, clock } = purchase(service, { maxSourceWaitMs: 1_800_000 });
    service.now = () => clock.now() + 3_600_000;
    await expect(run()).rejects.toEqual(
      failing("not_paid", { until: wholeSeconds(clock.now()) + 3_600_000 + UNTIL_MS }),
    );
    expect(wallet.signed).toBe(1);
  });

  test("when an earlier call left it, it is sent again before", async () => {
    const vault = memoryVault();
    await using service = await fakeService(paymentRequired([BASE_OFFER]), "hang up", expired, expired);
    const first = purchase(service, { vault, maxWaitMs: 1 });
    await expect(first.run()).rejects.toEqual(failing("paid_unfinished"));
    const { run, wallet } = purchase(service, { vault, clock: manualClock(first.clock.now() + UNTIL_MS) });
    await expect(run()).rejects.toEqual(failing("not_paid", { message: "expired" }));
    expect(wallet.signed).toBe(1);
    expect(service.requests).toHaveLength(4);
  });

  test("the price of another is asked again, and counts with what is signed", async () => {
    await using service = await fakeService(
      ...[paymentRequired([BASE_OFFER]), "hang up" as const, expired],
      paymentRequired([{ ...BASE_OFFER, amount: "9001" }], "expired"),
    );
    const { run, wallet } = purchase(service);
    await expect(run()).rejects.toEqual(failing("price_too_high", { price: 10_001n, signed: 1000n }));
    expect(wallet.signed).toBe(1);
  });

  test("nothing is told to be unpaid when the source is still too new at the end of the wait: the payment is kept", async () => {
    const early = problem(409, "source_not_final", { retryAfter: 9 });
    await using service = await fakeService(paymentRequired([BASE_OFFER]), early, early, early);
    const { run, clock, stored } = purchase(service, { maxSourceWaitMs: 20_000 });
    await expect(run()).rejects.toEqual(
      failing("refused", {
        problem: expect.objectContaining({ status: 409 }),
        until: expect.any(Number),
        signed: 1000n,
      }),
    );
    expect(clock.waits).toEqual([9000, 9000]);
    expect(await stored()).toBeDefined();
  });

  test("a refund is the service's word: the payment is forgotten when it can no longer be taken", async () => {
    const refunded = problem(410, "payment_refunded");
    await using service = await fakeService(paymentRequired([BASE_OFFER]), refunded, refunded);
    const vault = memoryVault();
    const first = purchase(service, { vault });
    await expect(first.run()).rejects.toEqual(failing("refused", { paymentId: expect.any(String) }));
    expect(await first.stored()).toBeDefined();
    const later = purchase(service, { vault, clock: manualClock(first.clock.now() + UNTIL_MS) });
    await expect(later.run()).rejects.toEqual(failing("refused", { paymentId: undefined }));
    expect(await later.stored()).toBeUndefined();
  });
});

describe("a device whose clock is wrong", () => {
  const buying = async (aheadMs: number) => {
    const service = await fakeService(paymentRequired([BASE_OFFER]), delivery(bytes));
    const bought = purchase(service);
    service.now = () => bought.clock.now() + aheadMs;
    return { service, ...bought };
  };
  const datesOf = (header: string | undefined) =>
    JSON.parse(Buffer.from(header ?? "", "base64").toString()).payload.authorization;

  test.each([
    ["100 s slow", 100_000],
    ["an hour slow", 3_600_000],
    ["an hour fast", -3_600_000],
    ["nearly a day fast", -86_300_000],
  ])("and %s dates its payment by the service's, no longer valid than else, and says so", async (_, aheadMs) => {
    const { service, run, progress, clock } = await buying(aheadMs);
    await using _service = service;
    const validBefore = (wholeSeconds(clock.now()) + aheadMs) / 1000 + BASE_OFFER.maxTimeoutSeconds;
    await run();
    expect(Number(datesOf(service.requests[1]?.header).validBefore)).toBeCloseTo(validBefore, -1);
    const dated = progress.find(({ step }) => step === "dated") as { aheadMs: number } | undefined;
    expect(Math.abs((dated?.aheadMs ?? 0) - aheadMs)).toBeLessThan(1000);
  });

  test("by 20 s dates its payment by its own", async () => {
    const { service, run, progress, clock } = await buying(20_000);
    await using _service = service;
    const own = Math.floor(clock.now() / 1000) + BASE_OFFER.maxTimeoutSeconds;
    await run();
    expect(datesOf(service.requests[1]?.header).validBefore).toBe(String(own));
    expect(progress.map(({ step }) => step)).toEqual(["offered", "signed"]);
  });

  test.each([
    ["behind", 90_000_000, /clock is (90,000|89,999) s behind the service's/],
    ["ahead", -90_000_000, /clock is (90,000|90,001) s ahead of the service's/],
  ])("more than a day %s signs nothing, and names the clock and the seconds", async (_, aheadMs, words) => {
    const { service, run, wallet } = await buying(aheadMs);
    await using _service = service;
    await expect(run()).rejects.toEqual(failing("signing_failed", { message: expect.stringMatching(words) }));
    expect(wallet.signed).toBe(0);
  });
});

describe("nothing is signed", () => {
  test("above the price allowed", async () => {
    await using service = await fakeService(paymentRequired([{ ...BASE_OFFER, amount: "10001" }]));
    const { run, wallet } = purchase(service);
    await expect(run()).rejects.toEqual(failing("price_too_high", { price: 10_001n }));
    expect(wallet.signed).toBe(0);
    expect(service.requests).toHaveLength(1);
  });

  test.each([
    ["an unknown transaction", problem(404, "source_not_found"), "refused"],
    ["a service that is stopping", problem(503, "stopping"), "unreachable"],
    ["no answer", "hang up" as const, "unreachable"],
    ["200", { status: 200, body: "{}" }, "unexpected_answer"],
    ["402 without offers", { status: 402 }, "unexpected_answer"],
    ["a redirect", { status: 307, headers: { location: "http://127.0.0.1:1/" } }, "unexpected_answer"],
  ])("on %s", async (_, reply, code) => {
    await using service = await fakeService(reply);
    const { run, wallet } = purchase(service);
    await expect(run()).rejects.toEqual(failing(code, { paymentId: undefined }));
    expect(wallet.signed).toBe(0);
  });

  test("nor sent when the vault fails", async () => {
    await using service = await fakeService(paymentRequired([BASE_OFFER]));
    const full: Vault = { ...memoryVault(), put: () => Promise.reject(new Error("disk full")) };
    await expect(purchase(service, { vault: full }).run()).rejects.toEqual(failing("vault_failed"));
    expect(service.requests).toHaveLength(1);
  });

  test("nor asked, with options that make no sense", async () => {
    const service = { url: "http://127.0.0.1:1" };
    for (const more of [{ service: "ftp://x" }, { service: "nonsense" }, { maxPrice: "lots" }]) {
      await expect(purchase(service, more).run()).rejects.toEqual(failing("invalid_option"));
    }
  });
});

describe("what is delivered", () => {
  test.each([
    ["no bundle", new TextEncoder().encode('{"hello":"world"}'), "not a bundle"],
    ["no JSON", new TextEncoder().encode("<html>"), "not a bundle"],
    [
      "a bundle of another transaction",
      new TextEncoder().encode(JSON.stringify(testBundle({ txnBytes: testPayment("another") }))),
      "another transaction",
    ],
    ["endless", new Uint8Array(5 * 1024 * 1024), "larger than any bundle"],
  ])("is not taken when it is %s; the payment stays", async (_, delivered, message) => {
    await using service = await fakeService(paymentRequired([BASE_OFFER]), delivery(delivered));
    const { run, stored } = purchase(service);
    await expect(run()).rejects.toEqual(
      failing("paid_unfinished", {
        message: expect.stringContaining(message),
        paymentId: expect.stringContaining(TXID),
      }),
    );
    expect(await stored()).toBeDefined();
  });
});

describe("an interrupted call", () => {
  test("says that a payment is left to take up", async () => {
    const interrupt = new AbortController();
    await using service = await fakeService(paymentRequired([BASE_OFFER]), () => {
      interrupt.abort();
      return "hang up";
    });
    const { run, stored } = purchase(service, { signal: interrupt.signal });
    await expect(run()).rejects.toEqual(failing("interrupted", { paymentId: expect.stringContaining(TXID) }));
    expect(await stored()).toBeDefined();
  });

  test("does not wait for a wallet that never signs", async () => {
    const interrupt = new AbortController();
    await using service = await fakeService(paymentRequired([BASE_OFFER]));
    const stuck: Wallet = {
      payer: () => "PAYER",
      sign: () => {
        interrupt.abort();
        return new Promise(() => undefined);
      },
    };
    const { run } = purchase(service, { wallet: stuck, signal: interrupt.signal });
    await expect(run()).rejects.toEqual(failing("interrupted", { paymentId: undefined }));
  });

  test("before it signed leaves nothing", async () => {
    const interrupt = new AbortController();
    await using service = await fakeService(() => {
      interrupt.abort();
      return paymentRequired([BASE_OFFER]);
    });
    const { run, stored } = purchase(service, { signal: interrupt.signal });
    await expect(run()).rejects.toEqual(failing("interrupted", { paymentId: undefined }));
    expect(await stored()).toBeUndefined();
  });
});

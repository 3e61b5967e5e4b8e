import { readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  TEST_RECEIPT,
  testAttestor,
  testBundle,
  testHistory,
  testPayment,
  testReceipt,
} from "../../../test/bundles/bundles.ts";
import { SANDBOX_LEDGER, sandboxHistory } from "../../../test/e2e/key-histories.ts";
import { attestd, attestdProcess, start } from "../../../test/helpers/command.ts";
import { runningSandbox } from "../../../test/helpers/running-sandbox.ts";
import { temporaryFolder } from "../../../test/helpers/temporary-folder.ts";
import {
  ALGORAND_OFFER,
  BASE_OFFER,
  delivery,
  type FakeService,
  fakeService,
  hostileScript,
  paymentRequired,
  problem,
} from "../../client/test/fake-service.ts";

const bundle = testBundle();
const { txnId } = bundle.source;
const bytes = new TextEncoder().encode(JSON.stringify(bundle));
const NAME = `${txnId.slice(0, 6)}-1000.json`;
const offered = paymentRequired([ALGORAND_OFFER, BASE_OFFER]);

describe("attestd attest", () => {
  const privateKey = generatePrivateKey();
  const { address } = privateKeyToAccount(privateKey);
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  const inFolder = (...names: string[]) => join(folder.path, ...names);
  beforeEach(async () => {
    folder = await temporaryFolder();
    await writeFile(inFolder("wallet.json"), JSON.stringify({ payers: { base: { address, privateKey } } }));
    await writeFile(inFolder("keys.json"), JSON.stringify(testHistory()));
  });
  afterEach(() => folder[Symbol.asyncDispose]());

  const parties = ({ url }: { url: string }) => ["--service", url, "--wallet", "wallet.json", "--keys", "keys.json"];
  const command = (service: { url: string }, ...more: string[]) => ["attest", txnId, ...parties(service), ...more];
  const options = () => ({ cwd: folder.path, env: { XDG_STATE_HOME: inFolder("state") } });
  const run = (service: { url: string }, ...more: string[]) => attestd(command(service, ...more), options());
  const storedPayments = () => readdir(inFolder("state", "attestd", "payments")).catch(() => []);
  const headers = (service: FakeService) => service.requests.map(({ header }) => header).filter(Boolean);

  test("buys an attestation, checks it, saves it, and prints each step", async () => {
    await using service = await fakeService(offered, delivery(bytes));
    const { code, stdout, stderr } = await run(service);
    expect(stdout).toMatch(
      new RegExp(
        `^  price      0\\.001 USDC on Base, from ${address.slice(0, 6)}…${address.slice(-4)}
  ✓ signed
  ✓ paid     SETTLEMENT
  ✓ recorded round 1000 +\\d+\\.\\d s
  ✓ verified, saved ${NAME}
    rests on the key list in .*keys\\.json, written on [\\d-]{10}
$`,
      ),
    );
    expect(stderr).toBe("");
    expect(code).toBe(0);
    expect(await readFile(inFolder(NAME))).toEqual(Buffer.from(bytes));
    expect(await storedPayments()).toEqual([]);
  });

  test("pays nothing without a folder for the payment, and leaves nothing in the current one", async () => {
    await using service = await fakeService(offered, delivery(bytes));
    // Below a relative home others may have put code.
    const env = { HOME: "home", XDG_STATE_HOME: "", XDG_CACHE_HOME: "" };
    const { code, stderr } = await attestdProcess(command(service), { cwd: folder.path, env });
    expect(stderr).toBe(
      "attestd: there is no folder for the signed payment\n" +
        "  This user has no home folder: set HOME or XDG_STATE_HOME to an absolute path.\n",
    );
    expect(code).toBe(2);
    expect(headers(service)).toEqual([]);
    expect(await readdir(folder.path)).toEqual(["keys.json", "wallet.json"]);
  });

  test("saves the signed receipt beside the bundle, which verify then checks", async () => {
    const stated = { ...TEST_RECEIPT, network: BASE_OFFER.network, payer: address, transaction: "SETTLEMENT" };
    const jws = { format: "jws", signature: testReceipt(testAttestor(), stated) };
    const settled = { success: true, transaction: "SETTLEMENT", network: BASE_OFFER.network, payer: address };
    const response = { ...settled, extensions: { "offer-receipt": { info: { receipt: jws } } } };
    const header = Buffer.from(JSON.stringify(response)).toString("base64");
    await using service = await fakeService(offered, {
      status: 200,
      headers: { "payment-response": header },
      body: bytes,
    });
    const { stdout } = await run(service);
    const receipt = NAME.replace(".json", ".receipt.json");
    expect(stdout).toContain(`✓ verified, saved ${NAME}\n    its receipt: ${receipt}\n`);
    expect(JSON.parse(await readFile(inFolder(receipt), "utf8"))).toEqual(jws);
    const verified = await attestd(["verify", NAME, "--keys", "keys.json"], options());
    expect(verified.stdout).toContain(`✓ Verified  ${receipt}\n`);
  });

  test("--json prints the report on stdout and the steps on stderr", async () => {
    await using service = await fakeService(offered, delivery(bytes));
    const { code, stdout, stderr } = await run(service, "--json");
    expect(JSON.parse(stdout)).toMatchObject({ file: NAME, verified: true, checks: { signature: "pass" } });
    expect(stderr).toMatch(/✓ verified, saved/);
    expect(code).toBe(0);
  });

  test("--out names the file; without it another bundle's file is never replaced", async () => {
    await writeFile(inFolder(NAME), "another");
    await using service = await fakeService(offered, delivery(bytes), offered, delivery(bytes));
    await run(service);
    expect((await readdir(folder.path)).filter((name) => name.startsWith(txnId.slice(0, 6)))).toEqual([
      `${txnId.slice(0, 6)}-1000-2.json`,
      NAME,
    ]);
    await run(service, "--out", "mine.json");
    expect(await readFile(inFolder("mine.json"))).toEqual(Buffer.from(bytes));
  });

  test("saves a bundle of an unknown signer, and prints that the signer is unknown", async () => {
    const stranger = testBundle({ attestor: testAttestor("stranger") });
    await using service = await fakeService(offered, delivery(new TextEncoder().encode(JSON.stringify(stranger))));
    const { code, stdout } = await run(service);
    expect(stdout).toContain(`? saved ${NAME}, signer unknown\n`);
    expect(stdout).not.toContain("recorded");
    expect(code).toBe(1);
  });

  test("saves a bundle that does not verify, and prints the failed checks", async () => {
    const wrong = { ...bundle, attest: { ...bundle.attest, round: 1001 } };
    await using service = await fakeService(offered, delivery(new TextEncoder().encode(JSON.stringify(wrong))));
    const { code, stdout } = await run(service);
    expect(stdout).toMatch(
      / {2}✕ saved .*-1001\.json, not verified\n {4}signature {2}does not match the contents\n {4}rests on the key list in .*keys\.json, .*\n$/,
    );
    expect(code).toBe(1);
  });

  test("continues with the same payment after it was killed while waiting", async () => {
    let killed: ReturnType<typeof start> | undefined;
    await using service = await fakeService(
      offered,
      async () => {
        expect(await storedPayments()).toHaveLength(1);
        killed?.kill("SIGKILL");
        return "hang up" as const;
      },
      delivery(bytes),
    );
    killed = start(command(service), options());
    expect((await killed.ended).code).toBe(null);
    const [name = ""] = await storedPayments();
    expect((await stat(inFolder("state", "attestd", "payments", name))).mode & 0o777).toBe(0o600);

    const { code, stdout } = await run(service, "--max-price", "0");
    expect(stdout).toMatch(/^ {2}resuming {3}0\.001 USDC on Base, signed before; nothing new is signed\n/);
    expect(code).toBe(0);
    expect(headers(service)).toHaveLength(2);
    expect(new Set(headers(service)).size).toBe(1);
    expect(await storedPayments()).toEqual([]);
  });

  test("prints that a payment is signed when it is interrupted", async () => {
    let interrupted: ReturnType<typeof start> | undefined;
    await using service = await fakeService(offered, () => {
      interrupted?.kill("SIGINT");
      return new Promise(() => undefined);
    });
    interrupted = start(command(service), options());
    expect(await interrupted.ended).toMatchObject({
      code: 130,
      stderr:
        "attestd: interrupted\n" +
        "  A payment is signed. Run the same command again; you will not pay twice.\n" +
        "  This command has signed 0.001 USDC in all.\n",
    });
    expect(await storedPayments()).toHaveLength(1);
  });

  test("shows on a terminal what it waits for, and asks before paying more than --max-price", async () => {
    const dear = paymentRequired([{ ...BASE_OFFER, amount: "20000" }]);
    let written = "";
    const shown = Promise.withResolvers<void>();
    const onError = (text: string) => {
      written += text;
      if (written.includes("\r\u001b[K  paying and recording…")) shown.resolve();
    };
    await using service = await fakeService(dear, dear, dear, async () => {
      await shown.promise;
      return delivery(bytes);
    });
    const answering = (input: string) =>
      attestd(command(service), { ...options(), input, screen: { columns: 80 }, onError });
    const question = "The service asks 0.02 USDC, more than the 0.01 allowed. Pay it? [y/N] ";

    const refused = await answering("n\n");
    expect(refused).toMatchObject({ code: 6, stderr: expect.stringContaining(question) });
    expect(refused.stderr).toContain("--max-price 0.02");
    expect(service.requests).toHaveLength(1);

    const bought = await answering("y\n");
    expect(bought).toMatchObject({ code: 0, stderr: expect.stringContaining(question) });
    expect(bought.stdout).toMatch(/^ {2}price {6}0\.02 USDC on Base/);
    // The line is erased at the end.
    expect(bought.stderr.endsWith("\r\u001b[K")).toBe(true);
  });

  test("--wait buys when the transaction is known and final, with one payment", async () => {
    const unknown = problem(404, "source_not_found", { retryAfter: 0 });
    const early = problem(409, "source_not_final", { retryAfter: 0 });
    await using service = await fakeService(offered, unknown, unknown, early, delivery(bytes));
    const { code, stdout } = await run(service, "--wait");
    expect(stdout.split("\n").slice(1, 5)).toEqual([
      "  ✓ signed",
      "  waiting    until the service knows the transaction; the same payment is sent again",
      "  waiting    until it is final; the same payment is sent again",
      "  ✓ paid     SETTLEMENT",
    ]);
    expect(code).toBe(0);
    expect(new Set(headers(service)).size).toBe(1);
  });

  test.each([
    ["--wait", ["--wait"]],
    ["no option", []],
  ])("gives a hostile service that answers 404 and then 402 one payment, with %s", async (_, more) => {
    await using service = await fakeService(...hostileScript());
    const stop = new AbortController();
    const onError = (text: string) => text.includes("no other is signed before") && stop.abort();
    const hostile = () => attestd(command(service, "--json", ...more), { ...options(), stop: stop.signal, onError });
    const { code, stderr } = await hostile();
    expect(stderr).toMatch(/it can be taken until [\d-]{10} [\d:]{8} UTC, and no other is signed before/);
    expect(stderr).not.toContain("Nothing was paid");
    expect(code).toBe(more.length > 0 ? 130 : 6);
    // The same command again sends it again.
    expect((await run(service)).stderr).toMatch(/: expired\n {2}The signed payment is kept: it can be taken until /);
    expect(new Set(headers(service)).size).toBe(1);
    expect(await storedPayments()).toHaveLength(1);
  });

  test("says that nothing was paid only where no payment was signed, also by an earlier command", async () => {
    const refused = paymentRequired([BASE_OFFER], "expired");
    await using service = await fakeService(offered, refused, problem(410, "payment_refunded"), refused, offered);
    await run(service);
    const [name = ""] = await storedPayments();
    const path = inFolder("state", "attestd", "payments", name);
    const stored = JSON.parse(await readFile(path, "utf8"));
    const expire = () => writeFile(path, JSON.stringify({ ...stored, until: Date.now() - 1 }), { mode: 0o600 });

    await expire();
    const refunded = await run(service);
    expect(refunded.stderr).toMatch(/\(payment_refunded\)\n.*\n {2}The same command signs a new payment\.\n$/);
    expect(await storedPayments()).toEqual([]);

    // The earlier payment has expired, and no other is signed: the first may have been taken.
    await expire();
    service.keys = { hello: "world" };
    const unsigned = await run(service);
    expect(unsigned.stderr).toMatch(
      / {2}The signed payment can no longer be taken\. If it was taken before, its chain shows it\.\n$/,
    );
    expect(unsigned.code).toBe(6);
    // Without it, nothing was paid.
    expect((await run(service)).stderr).toMatch(/\n {2}Nothing was paid\.\n$/);
  });

  test("dates the payment of a device with a slow clock by the service's, and prints that", async () => {
    await using service = await fakeService(offered, delivery(bytes));
    service.now = () => Date.now() + 3_600_000;
    const { code, stdout } = await run(service);
    expect(stdout).toMatch(
      /\n {2}clock {6}This device's clock is 3,(600|599) s behind the service's; the payment is dated by the service's\n/,
    );
    expect(code).toBe(0);
  });

  test("signs nothing where the clock is wrong by more than a day, and names it", async () => {
    await using service = await fakeService(offered);
    service.now = () => Date.now() + 90_000_000;
    const { code, stderr } = await run(service);
    expect(stderr).toMatch(/clock is (90,000|89,999) s behind the service's.*\n {2}Nothing was paid\.\n$/s);
    expect([code, headers(service)]).toEqual([6, []]);
  });

  describe("compares the service's keys with those that it trusts before it signs, and", () => {
    const next = { attestor: testAttestor("next"), fromRound: 2000 };
    const first = { attestor: testAttestor(), fromRound: 1 };
    test.each([
      [
        "a history that lacks a key of it",
        testHistory([first, next]),
        testHistory([first]),
        /does not continue .*is gone/s,
      ],
      [
        "another attestor's",
        testHistory(),
        testHistory([{ attestor: testAttestor("other"), fromRound: 1 }]),
        /not continue/,
      ],
      [
        "a newer key",
        testHistory([first]),
        testHistory([first, next]),
        /newest key, \S+, was added since.*keys history/s,
      ],
      ["no history", testHistory(), { hello: "world" }, /not a key history/],
    ])("signs nothing for %s", async (_, trusted, served, words) => {
      await writeFile(inFolder("keys.json"), JSON.stringify(trusted));
      await using service = await fakeService(offered);
      service.keys = served;
      const { code, stderr } = await run(service);
      expect(stderr).toMatch(/^attestd: not paid: the service's keys are not those of keys\.json\n/);
      expect(stderr).toMatch(words);
      expect(stderr).toMatch(/\n {2}Nothing was paid\.\n$/);
      expect([code, headers(service), await storedPayments()]).toEqual([6, [], []]);
    });
  });

  test("--require succeeded buys nothing of a transaction that failed, and tells how it could be bought", async () => {
    await using service = await fakeService(offered, problem(409, "transaction_failed"));
    const { code, stderr } = await run(service, "--require", "succeeded");
    expect([code, service.requests[1]?.body]).toMatchObject([6, { require: "succeeded" }]);
    expect(stderr).toMatch(
      /\(transaction_failed\)\n.*\n {2}The signed payment is kept: .*\n.*\n {2}Without --require/s,
    );
    expect((await run(service, "--require", "failed")).code).toBe(2);
  });

  test("--wait has an end, after which the payment is kept", async () => {
    await using service = await fakeService(offered, problem(409, "source_not_final", { retryAfter: 60 }));
    expect(await run(service, "--wait", "1")).toMatchObject({
      code: 6,
      stderr: expect.stringMatching(/\(source_not_final\)\n.*\n {2}The signed payment is kept: .*\n.*--wait/s),
    });
  });

  test("ends with paid, unfinished when the bundle does not come", async () => {
    await using service = await fakeService(
      offered,
      problem(503, "attestation_pending", { sameHeader: true, retryAfter: 3600 }),
    );
    expect(await run(service)).toMatchObject({
      code: 5,
      stderr:
        "attestd: paid, not recorded yet.\n" +
        "  Waiting for Algorand (attestation_pending).\n" +
        "  Run the same command again; you will not pay twice.\n",
    });
    expect(await storedPayments()).toHaveLength(1);
  });

  test.each([
    ["a refused payment", [offered, paymentRequired([BASE_OFFER], "insufficient_funds")], 6, /insufficient_funds/],
    ["a price above --max-price", [paymentRequired([{ ...BASE_OFFER, amount: "20000" }])], 6, /--max-price 0\.02/],
    ["a rail without a key", [paymentRequired([ALGORAND_OFFER])], 6, /--wallet FILE/],
    [
      "an unknown transaction",
      [problem(404, "source_not_found")],
      6,
      /source_not_found\)\n.*\n {2}Nothing was paid\.\n.*--wait\.\n$/,
    ],
    ["a payment used elsewhere", [offered, problem(409, "payment_bound_to_other_request")], 6, /remove this one: \//],
    ["a service that is stopping", [problem(503, "stopping")], 4, /can't be reached\n {2}detail of stopping/],
    ["a web site", [{ status: 200, body: "<html>" }], 4, /not an attestd service/],
  ])("ends on %s", async (_, script, code, words) => {
    await using service = await fakeService(...script);
    expect(await run(service)).toMatchObject({ code, stderr: expect.stringMatching(words) });
  });

  test("prints why a service can't be reached", async () => {
    const { code, stderr } = await run({ url: "http://127.0.0.1:1" });
    expect(stderr).toMatch(
      /^attestd: the service can't be reached\n.*(ECONNREFUSED|bad port).*\n {2}Nothing was paid\.\n$/,
    );
    expect(code).toBe(4);
  });

  test("does not pay when the bundle could not be saved", async () => {
    await using service = await fakeService(offered);
    expect(await run(service, "--out", "no/such/folder/b.json")).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/--out/),
    });
    expect(service.requests).toEqual([]);
  });

  test("needs a service and a wallet, and names the missing one", async () => {
    const alone = await attestd(["attest", txnId], options());
    expect(alone).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/^attestd: --service URL and --wallet FILE/),
    });
    const service = await attestd(["attest", txnId, "--wallet", "wallet.json"], options());
    expect(service).toMatchObject({ code: 2, stderr: expect.stringMatching(/^attestd: --service URL must/) });
  });

  test.each([
    [["hello"], /^attestd: hello is not a transaction id\n {2}Algorand's have 52 characters/],
    [[txnId, "--service", "localhost:4020"], /'--service <url>' argument 'localhost:4020' is invalid/],
    [["--wait", txnId], /'--wait \[seconds\]' argument '\S+' is invalid\. Write whole seconds, .* behind the id\./],
    [[txnId, "--max-price", "1 USDC"], /^attestd: --max-price: "1 USDC" is not an amount of USDC/],
  ])("attest %j is a usage error, and sends no request", async (args, words) => {
    await using service = await fakeService();
    const result = await attestd(["attest", ...parties(service), ...args], options());
    expect(result).toMatchObject({ code: 2, stdout: "", stderr: expect.stringMatching(words) });
    expect(service.requests).toEqual([]);
  });

  test.each([
    ["a missing file", "none.json", "can't read"],
    ["a file without keys", "keys.json", "is not a wallet"],
  ])("fails when the wallet is %s", async (_, wallet, words) => {
    await using service = await fakeService();
    const result = await attestd(["attest", txnId, "--service", service.url, "--wallet", wallet], options());
    expect(result).toMatchObject({ code: 3, stderr: expect.stringContaining(words) });
  });

  describe("in a folder with a sandbox", () => {
    let status: Disposable | undefined;
    const stand = async (serviceUrl: string) => {
      const description = { serviceUrl, payers: { base: { address, privateKey } } };
      status = await runningSandbox(folder.path, { "sandbox.json": description, "keys.json": sandboxHistory() });
    };
    afterEach(() => status?.[Symbol.dispose]());

    test("uses neither its wallet nor its keys once it has ended", async () => {
      await using service = await fakeService();
      await stand(service.url);
      status?.[Symbol.dispose]();
      status = undefined;
      const result = await attestd(["attest", txnId], options());
      expect(result).toMatchObject({
        code: 2,
        stdout: "",
        stderr: expect.stringContaining("No sandbox of yours runs"),
      });
      expect(service.requests).toEqual([]);
    });

    test("needs only the id, and stores its payment there", async () => {
      let kept: string[] = [];
      await using service = await fakeService(offered, async () => {
        kept = await readdir(inFolder(".attestd", "payments"));
        return delivery(new TextEncoder().encode(JSON.stringify(testBundle({ ledger: SANDBOX_LEDGER }))));
      });
      service.keys = sandboxHistory();
      await stand(service.url);
      const { code, stdout } = await attestd(["attest", txnId], options());
      expect(stdout).toMatch(
        /✓ verified.*rests on the sandbox's key list in \.attestd\/keys\.json, .*⚠ Sandbox, not real\./s,
      );
      expect(code).toBe(0);
      expect(kept).toHaveLength(1);
    });

    test.each(["https://attestd.real.example", "http://127.0.0.1.evil.example"])(
      "does not pay when the sandbox names the service %s",
      async (serviceUrl) => {
        await stand(serviceUrl);
        const refused = await attestd(["attest", txnId, "--wallet", "wallet.json"], options());
        expect(refused).toMatchObject({
          code: 2,
          stderr: expect.stringMatching(/^attestd: --service URL must be given/),
        });
      },
    );

    test("asks whether the sandbox is running when nothing answers", async () => {
      await stand("http://127.0.0.1:1");
      const { code, stderr } = await attestd(["attest", txnId], options());
      expect(stderr).toMatch(/\n {2}Is the sandbox running\? .*\n$/);
      expect(code).toBe(4);
    });

    test("uses neither the sandbox's wallet nor its keys for another service", async () => {
      await stand("http://127.0.0.1:1");
      const other = await attestd(["attest", txnId, "--service", "http://127.0.0.1:2"], options());
      expect(other).toMatchObject({ code: 2, stderr: expect.stringMatching(/^attestd: --wallet FILE/) });
    });
  });

  test("rejects a bundle of another transaction", async () => {
    const other = testBundle({ txnBytes: testPayment("other") });
    await using service = await fakeService(offered, delivery(new TextEncoder().encode(JSON.stringify(other))));
    expect(await run(service)).toMatchObject({ code: 5, stderr: expect.stringContaining("another transaction") });
    expect(await storedPayments()).toHaveLength(1);
  });
});

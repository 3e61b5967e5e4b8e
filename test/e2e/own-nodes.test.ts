import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseNote, type SignedBundle, type TransactionNote } from "@attestd/proof";
import { decodeMsgpackMap, encodeMsgpack, getMap } from "@attestd/proof/algorand";
import { encodeNote } from "@attestd/proof/attestor";
import { toHex } from "@attestd/proof/encoding";
import algosdk from "algosdk";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { secret } from "../../packages/service/test/settings.ts";
import { signBundle, testAttestor, testHistory } from "../bundles/bundles.ts";
import { attestd } from "../helpers/command.ts";
import { type Meddling, startReverseProxy } from "../helpers/reverse-proxy.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";
import { algorandClient, type Deployment, pay, sign, startDeployment } from "./deployment.ts";

/** The service's key, with which a test signs bundles that an honest attestor would not sign. */
const attestor = testAttestor("own nodes");

type Proxy = Awaited<ReturnType<typeof startReverseProxy>>;
let deployment: Deployment;
let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let algod: Proxy;
let rpc: Proxy;
let nodes: { algod: string[]; indexer: string[]; base: string[] };
const bundles: Record<string, SignedBundle> = {};

beforeAll(async () => {
  deployment = await startDeployment({ networks: ["base"] }, { attestor: { pq_seed: secret(toHex(attestor.pqSeed)) } });
  folder = await temporaryFolder();
  const { sandbox, url } = deployment;
  const { algorand, algorandHeight, base, baseHeight } = sandbox.sampleTransactions;
  const wanted: [name: string, path: string, body: object][] = [
    ["algorand", "/attest", { txid: algorand }],
    ["base", "/attest", { txid: base }],
    ["block", "/attest-block", { chain: "algorand", height: algorandHeight }],
    ["inclusion", "/prove-tx-inclusion", { chain: "base", txId: base, height: baseHeight }],
  ];
  for (const [name, path, body] of wanted) {
    const answer = await pay(url + path, body, await sign(url + path, body, algorandClient(sandbox)));
    expect(answer.status, answer.text).toBe(200);
    bundles[name] = JSON.parse(answer.text);
    await writeFile(join(folder.path, `${name}.json`), answer.text);
  }
  const keys = await fetch(`${url}/.well-known/attestor-keys.json`);
  await writeFile(join(folder.path, "keys.json"), await keys.bytes());
  await buyWaiting("waited.json");
  await deployment.stopService();
  algod = await startReverseProxy(() => sandbox.algodUrl);
  rpc = await startReverseProxy(() => sandbox.baseRpcUrl ?? "");
  nodes = {
    algod: ["--algod", algod.url],
    indexer: ["--indexer", sandbox.indexerUrl],
    base: ["--base-rpc", rpc.url],
  };
  await writeFile(join(folder.path, "base-rpc"), `${rpc.url}\n`);
  await writeFile(join(folder.path, "no-url"), "secret");
});
afterAll(async () => {
  await algod[Symbol.asyncDispose]();
  await rpc[Symbol.asyncDispose]();
  await deployment.close();
  await folder[Symbol.asyncDispose]();
});
beforeEach(() => {
  algod.meddling = {};
  rpc.meddling = {};
});

/** Buys the attestation of a payment that is sent only when the command waits for it. */
async function buyWaiting(out: string): Promise<void> {
  const { algodUrl, payers } = deployment.sandbox;
  const client = new algosdk.Algodv2("", algodUrl, new URL(algodUrl).port);
  const { addr, sk } = algosdk.mnemonicToSecretKey(payers.algorand.mnemonic);
  const suggestedParams = await client.getTransactionParams().do();
  const payment = algosdk.makePaymentTxnWithSuggestedParamsFromObject({
    sender: addr,
    receiver: addr,
    amount: 1,
    suggestedParams,
  });
  const { blob } = algosdk.signTransaction(payment, sk);
  await writeFile(join(folder.path, "wallet.json"), JSON.stringify({ payers, algodUrl }));
  const parties = ["--service", deployment.url, "--wallet", "wallet.json", "--keys", "keys.json"];
  let written = "";
  let sent: Promise<unknown> | undefined;
  const waited = await attestd(["attest", payment.txID(), "--wait", "--json", "--out", out, ...parties], {
    cwd: folder.path,
    onError(text) {
      written += text;
      if (written.includes("until the service knows the transaction")) sent ??= client.sendRawTransaction(blob).do();
    },
  });
  await sent;
  expect(waited, waited.stderr).toMatchObject({ code: 0 });
  expect(sent).toBeDefined();
}

const verify = (file: string, ...more: string[]) =>
  attestd(["verify", file, "--keys", "keys.json", "--chain", ...more], { cwd: folder.path });

/** The online checks and the failures of a bundle. */
async function report(file: string, ...more: string[]) {
  const { code, stdout } = await verify(file, "--json", ...more);
  const { verified, checks, failures, recordedAt } = JSON.parse(stdout);
  return { code, verified, source: checks.chainSource, attest: checks.chainAttest, failures, recordedAt };
}

/** Answers a JSON-RPC method in its node's place. */
function answering(method: string, change: (result: Record<string, unknown>) => unknown): Meddling {
  return {
    answer(_, outgoing, body) {
      const request = JSON.parse(body.toString());
      if (request.method !== method) return false;
      void fetch(deployment.sandbox.baseRpcUrl ?? "", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: new Uint8Array(body),
      })
        .then((honest) => honest.json() as Promise<{ result: Record<string, unknown> }>)
        .then((honest) => outgoing.end(JSON.stringify({ ...honest, result: change(honest.result) })));
      return true;
    },
  };
}

describe("attestd verify --chain with one's own nodes, while no service runs", () => {
  test.each(["algorand", "base", "block", "inclusion", "waited"])(
    "compares the bundle %s with both chains",
    async (name) => {
      const passed = { code: 0, verified: true, source: "pass", attest: "pass", recordedAt: expect.any(String) };
      expect(await report(`${name}.json`, ...nodes.algod, ...nodes.indexer, ...nodes.base)).toMatchObject(passed);
      // Without an indexer the round is the one that the bundle names. A URL may be in a file.
      expect(await report(`${name}.json`, ...nodes.algod, "--base-rpc", "base-rpc")).toMatchObject(passed);
    },
  );

  test("checks what the named nodes can show, and prints what they cannot", async () => {
    const partly = await verify("base.json", ...nodes.base);
    expect(partly).toMatchObject({ code: 0, stdout: expect.stringContaining("; not checked: chainAttest\n") });
    expect(partly.stdout).toContain("stated as recorded");
    expect(await verify("algorand.json", ...nodes.base)).toMatchObject({
      code: 4,
      stdout: expect.stringMatching(
        /couldn't ask the ledger; .*: No node of its chain, or of the ledger, was named\.\n/,
      ),
    });
  });

  test("refuses what the attestor signed and the ledger does not have", async () => {
    const { signature: _, ...honest } = bundles.base as SignedBundle;
    const lie = signBundle(attestor, { ...honest, attest: { ...honest.attest, round: honest.attest.round - 1 } });
    await writeFile(join(folder.path, "lie.json"), JSON.stringify(lie));
    const refused = { code: 1, verified: false, source: "pass", attest: "fail" };
    expect(await report("lie.json", ...nodes.algod, ...nodes.base)).toMatchObject({
      ...refused,
      source: "not_checked",
      failures: [{ check: "chainAttest", message: "not found" }],
    });
    expect(await report("lie.json", ...nodes.algod, ...nodes.indexer, ...nodes.base)).toMatchObject({
      ...refused,
      failures: [{ check: "chainAttest", pointer: "/attest/round", computed: String(honest.attest.round) }],
    });
  });
});

describe("what a note states of its transaction", () => {
  test.each<[string, "algorand" | "base", (note: TransactionNote) => Partial<TransactionNote>]>([
    ["another time", "base", ({ u }) => ({ u: u + 1 })],
    ["another outcome", "base", () => ({ s: 0 })],
    ["another block", "base", () => ({ b: `0x${"9".repeat(64)}` })],
    ["another height", "base", ({ n }) => ({ n: n - 1 })],
    ["another time", "algorand", ({ u }) => ({ u: u + 1 })],
  ])("is refused if it is %s, of %s", async (_, name, change) => {
    const { signature: __, ...honest } = bundles[name] as SignedBundle;
    const note = parseNote(honest.attest.note) as TransactionNote;
    const changed = encodeNote({ ...note, ...change(note) });
    const lie = signBundle(attestor, { ...honest, attest: { ...honest.attest, note: changed } });
    await writeFile(join(folder.path, "stated.json"), JSON.stringify(lie));
    const refused = await report("stated.json", ...nodes.algod, ...nodes.indexer, ...nodes.base);
    const [member = ""] = Object.keys(change(note));
    expect(refused).toMatchObject({ code: 1, verified: false, source: "fail", attest: "fail" });
    expect(refused.failures).toContainEqual(
      expect.objectContaining({ check: "chainSource", pointer: `/attest/note/${member}` }),
    );
  });

  test.each<[string, string, (result: Record<string, unknown>) => unknown, object]>([
    [
      "the outcome",
      "eth_getTransactionReceipt",
      (receipt) => ({ ...receipt, status: "0x0" }),
      { code: 1, source: "fail" },
    ],
    [
      "the time",
      "eth_getBlockByNumber",
      (block) => ({ ...block, timestamp: "0x1" }),
      { code: 4, source: "not_checked", attest: "not_checked" },
    ],
  ])("passes no check if the node lies about %s", async (_, method, change, outcome) => {
    rpc.meddling = answering(method, change);
    expect(await report("base.json", ...nodes.algod, ...nodes.base)).toMatchObject(outcome);
  });
});

describe("a node that lies", () => {
  test("and serves the round without the record passes no check", async () => {
    const { round } = (bundles.base as SignedBundle).attest;
    algod.meddling = {
      answer(incoming, outgoing) {
        if (!incoming.url?.startsWith(`/v2/blocks/${round}?`)) return false;
        void fetch(`${deployment.sandbox.algodUrl}${incoming.url}`).then(async (honest) => {
          const answer = decodeMsgpackMap(await honest.bytes());
          getMap(answer, "block")?.delete("txns");
          outgoing.end(encodeMsgpack(answer));
        });
        return true;
      },
    };
    const without = await report("base.json", ...nodes.algod, ...nodes.base);
    expect(without).toMatchObject({ code: 1, verified: false, attest: "fail" });
    // The indexer contradicts it, and so nothing is decided.
    const disputed = await verify("base.json", ...nodes.algod, ...nodes.indexer, ...nodes.base);
    expect(disputed).toMatchObject({ code: 4, stdout: expect.stringMatching(/couldn't ask the ledger; .*contradict/) });
    expect(disputed.stdout).toContain("stated as recorded");
  });

  test("and has no receipt of the source passes no check", async () => {
    rpc.meddling = answering("eth_getTransactionReceipt", () => null);
    expect(await report("base.json", ...nodes.algod, ...nodes.base)).toMatchObject({
      code: 1,
      failures: [{ check: "chainSource", message: "not found" }],
    });
  });

  test("and names another block of the source passes no check", async () => {
    rpc.meddling = answering("eth_getTransactionReceipt", (receipt) => ({
      ...receipt,
      blockHash: `0x${"9".repeat(64)}`,
    }));
    expect(await report("base.json", ...nodes.algod, ...nodes.base)).toMatchObject({ code: 4, source: "not_checked" });
  });

  test("and is on another ledger is told as that", async () => {
    await writeFile(join(folder.path, "mainnet-keys.json"), JSON.stringify(testHistory([{ attestor, fromRound: 1 }])));
    const { sandbox } = deployment;
    algod.meddling = {
      answer(incoming, outgoing) {
        if (incoming.url !== "/v2/transactions/params") return false;
        const genesis = Buffer.alloc(32, 9).toString("base64");
        outgoing.end(
          JSON.stringify({ "genesis-hash": genesis, "genesis-id": "x", "last-round": 1, fee: 0, "min-fee": 1000 }),
        );
        return true;
      },
    };
    expect(await verify("base.json", ...nodes.algod)).toMatchObject({
      code: 4,
      stdout: expect.stringContaining(`is on algorand:CQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJ, not on ${sandbox.ledgerCaip2}`),
    });
  });

  test("and answers no more leaves the offline result", async () => {
    algod.meddling = { answer: (_, outgoing) => Boolean(outgoing.writeHead(500).end()) };
    expect(await verify("base.json", ...nodes.algod)).toMatchObject({
      code: 4,
      stdout: expect.stringMatching(
        /^⚠ Verified, .*couldn't ask the ledger; the offline result stands: .*answered HTTP 500/s,
      ),
    });
  });
});

test.each([
  [["--algod", "http://a.example", "--service", "http://b.example"], /--service and own nodes are both named/],
  [["--indexer", "http://a.example"], /--indexer needs --algod/],
  [["--algod-token-file", "keys.json"], /--algod-token-file is for --algod/],
  [["--algod", "http://me:secret@a.example"], /argument 'http:\/\/…@a\.example' .* without a password/],
  [["--base-rpc", "http://me:secret@a.example"], /argument 'http:\/\/…@a\.example' .* without a password/],
  [["--base-rpc", "none"], /can't read none\n {2}There is no such file/],
  [["--base-rpc", "no-url"], /no-url has no URL\n {2}Write the URL of a node into it, on one line/],
])("%j is a usage error", async (args, words) => {
  expect(await verify("base.json", ...args)).toMatchObject({
    code: 2,
    stdout: "",
    stderr: expect.stringMatching(words),
  });
});

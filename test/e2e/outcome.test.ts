import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type ProofBundle, parseNote } from "@attestd/proof";
import { encodeNote } from "@attestd/proof/attestor";
import { toHex } from "@attestd/proof/encoding";
import { createPublicClient, type Hex, http, keccak256, type TransactionReceipt, toRlp } from "viem";
import { base } from "viem/chains";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { secret } from "../../packages/service/test/settings.ts";
import { signBundle, testAttestor } from "../bundles/bundles.ts";
import { algorandClient, type Deployment, pay, post, sign, startDeployment } from "./deployment.ts";
import { failedTransfer } from "./failed-transfer.ts";
import { outsider } from "./ledger.ts";
import { type TransportName, transportsOf } from "./transports.ts";

/*
 * A transaction that failed on Base: what is sold of it, what is refused, and what a node or an attestor that lies about it
 * gets. The expected values are viem's, from the node itself.
 */

/** The service's key, with which a test signs bundles that an honest attestor would not sign. */
const attestor = testAttestor("e2e");

type Json = Record<string, unknown>;
/** What a node says in place of the truth, by method. */
type Lies = Partial<Record<string, (answer: Json, params: unknown[]) => unknown>>;

let deployment: Deployment;
let node: Awaited<ReturnType<typeof startLiar>>;
let failed: TransactionReceipt;
let time: number;
const log: string[] = [];
beforeAll(async () => {
  node = await startLiar();
  deployment = await startDeployment(
    { networks: ["base"] },
    {
      attestor: { pq_seed: secret(toHex(attestor.pqSeed)) },
      chains: { base: { transaction_level: "included" } },
      log_level: "error",
      admin: { port: 0 },
    },
    { log: { write: (line) => log.push(line) } },
  );
  node.target = deployment.sandbox.baseRpcUrl ?? "";
  await deployment.restart({ chains: { base: { rpc: [node.url] } } });
  const chain = createPublicClient({ chain: base, transport: http(node.target) });
  failed = await failedTransfer(deployment.sandbox);
  time = Number((await chain.getBlock({ blockHash: failed.blockHash })).timestamp);
});
afterAll(async () => {
  await deployment?.close();
  await node?.close();
});

const signed = (txid: string) => sign(`${deployment.url}/attest`, { txid }, algorandClient(deployment.sandbox));

async function buy(txid: string, more = {}) {
  return pay(`${deployment.url}/attest`, { txid, ...more }, await signed(txid));
}

describe("a transaction that failed on Base", () => {
  let bundle: ProofBundle;
  let isRestarted: Promise<void> | undefined;

  test("is sold as one that failed, with its block and time", async () => {
    const { status, json, text } = await buy(failed.transactionHash);
    expect(status, text).toBe(200);
    bundle = json as unknown as ProofBundle;
    const { blockHash: b, blockNumber: n } = failed;
    expect(parseNote(bundle.attest.note)).toMatchObject({ b, n: Number(n), s: 0, t: failed.transactionHash, u: time });
    const { json: report } = await post(`${deployment.url}/verify?chain=1`, bundle);
    expect(report).toMatchObject({
      verified: true,
      checks: { note: "pass", chainSource: "pass", chainAttest: "pass" },
      warnings: expect.arrayContaining(["transaction_failed"]),
      statement: { block: { hash: b, height: Number(n), time }, outcome: "failed" },
    });
  });

  test.each<TransportName>(["HTTP", "MCP", "A2A"])(
    "is refused over %s where success is required",
    async (transport) => {
      const seen = outsider(deployment.sandbox);
      const before = [await seen.payments(), await seen.attestations(), await seen.balance()];
      await using transports = await transportsOf(deployment.url);
      const payment = await signed(failed.transactionHash);
      const refused = await transports[transport](failed.transactionHash, payment, { require: "succeeded" });
      expect(refused).toEqual({ kind: "problem", code: "transaction_failed" });
      expect([await seen.payments(), await seen.attestations(), await seen.balance()]).toEqual(before);
    },
  );

  test("can still be bought with the payment that was refused", async () => {
    const payment = await signed(failed.transactionHash);
    const request = { txid: failed.transactionHash };
    const url = `${deployment.url}/attest`;
    expect(await pay(url, { ...request, require: "succeeded" }, payment)).toMatchObject({
      status: 409,
      json: { code: "transaction_failed", detail: expect.stringContaining(String(failed.blockNumber)) },
    });
    const sold = await pay(url, request, payment);
    expect(sold.status, sold.text).toBe(200);
    // `require` decides whether it is sold, not what is sold: the payment has bought this.
    expect(await pay(url, { ...request, require: "succeeded" }, payment)).toMatchObject({ text: sold.text });
  });

  test("what is required is met by one that succeeded, and by every one of Algorand", async () => {
    const { algorand, base: succeeded = "" } = deployment.sandbox.sampleTransactions;
    for (const [txid, outcome] of [
      [succeeded, 1],
      [algorand, undefined],
    ] as const) {
      const { status, json, text } = await buy(txid, { require: "succeeded" });
      expect(status, text).toBe(200);
      expect(parseNote((json as unknown as ProofBundle).attest.note)).toMatchObject({ t: txid });
      expect(parseNote((json as unknown as ProofBundle).attest.note)).toHaveProperty("u", expect.any(Number));
      expect((parseNote((json as unknown as ProofBundle).attest.note) as { s?: number }).s).toBe(outcome);
    }
    for (const require of ["failed", true, ""])
      expect((await post(`${deployment.url}/attest`, { txid: algorand, require })).status).toBe(400);
  });

  test.each<[string, object]>([
    ["another block", { b: `0x${"b1".repeat(32)}` }],
    ["another height", { n: 1 }],
    ["another time", { u: 1 }],
    ["another outcome", { s: 1 }],
  ])("is refused online where an attestor states %s", async (_, lie) => {
    const { signature: _signature, ...unsigned } = bundle;
    const true_ = parseNote(bundle.attest.note) as unknown as Json;
    const note = encodeNote({ ...true_, ...lie } as never);
    const lying = signBundle(attestor, { ...unsigned, attest: { ...bundle.attest, note } });
    expect((await post(`${deployment.url}/verify`, lying)).status).toBe(200);
    const { status, json } = await post(`${deployment.url}/verify?chain=1`, lying);
    const [[member = "", stated] = []] = Object.entries(lie);
    expect([status, (json.report as { failures: object[] }).failures]).toEqual([
      400,
      [
        { check: "chainSource", pointer: `/attest/note/${member}`, stated: `${stated}`, computed: `${true_[member]}` },
        // The note is not the one on the ledger either.
        expect.objectContaining({ check: "chainAttest", pointer: "/attest/note" }),
      ],
    ]);
  });

  test.each<[string, string[], () => Lies]>([
    ["another outcome", ["s"], () => ({ eth_getTransactionReceipt: (receipt) => ({ ...receipt, status: "0x1" }) })],
    ["another time", ["b", "u"], () => ofBlock((header) => ({ ...header, timestamp: hex(time + 1) }))],
    ["another block", ["b"], () => ofBlock((header) => ({ ...header, extraData: "0x00" }))],
    ["another height", ["b", "n"], () => ofBlock((header) => ({ ...header, number: hex(failed.blockNumber + 1n) }))],
  ])("is refused online by a node that states %s", async (_, members, lies) => {
    // What is final is kept: only what is not is asked for each time.
    isRestarted ??= deployment.restart();
    await isRestarted;
    const { eth_getBlockByNumber: stated = (answer: Json) => answer, ...others } = lies();
    const isHead = (tag: unknown) => tag === "finalized" || tag === "safe";
    const eth_getBlockByNumber: Lies[string] = (answer, [tag]) => (isHead(tag) ? null : stated(answer, [tag]));
    node.lies = { ...others, eth_getBlockByNumber };
    const { status, json } = await post(`${deployment.url}/verify?chain=1`, bundle);
    node.lies = {};
    expect([status, json.code]).toEqual([400, "bundle_rejected"]);
    const { failures } = json.report as { failures: { check: string; pointer: string }[] };
    expect(failures.map(({ check, pointer }) => `${check} ${pointer}`)).toEqual(
      members.map((member) => `chainSource /attest/note/${member}`),
    );
  });

  test("is refused where the node's header has not the hash that it states, and sold by no such node", async () => {
    node.lies = {
      eth_getBlockByNumber: (answer, [tag]) =>
        tag === hex(failed.blockNumber) ? { ...answer, timestamp: hex(time + 1) } : answer,
    };
    expect(await buy(failed.transactionHash)).toMatchObject({ status: 503, json: { code: "providers_unavailable" } });
    node.lies = {};
  });

  test("is not sold when a fork has given its header a field that attestd does not know: uncharged, and an alert that names the field", async () => {
    const ofFork = {
      blockAccessListHash: `0x${"22".repeat(32)}`,
      slotNumber: "0x5",
      rootOfAFork: `0x${"33".repeat(32)}`,
    };
    node.lies = ofBlock((header) => ({ ...header, ...ofFork }), ["rootOfAFork"]);
    log.length = 0;
    const [before, unread] = [await payerHas(), await unreadHeaders()];
    const { status, json } = await buy(failed.transactionHash);
    expect({ status, json }).toMatchObject({ status: 503, json: { code: "providers_unavailable" } });
    expect(log.map((line) => JSON.parse(line))).toContainEqual(
      expect.objectContaining({ level: "error", unknownFields: ["rootOfAFork"], about: `block ${failed.blockNumber}` }),
    );
    expect(await unreadHeaders()).toBeGreaterThan(unread);
    expect(await payerHas()).toBe(before);
    // The same without that field is Amsterdam's, which is known.
    node.lies = ofBlock((header) => ({ ...header, ...ofFork, rootOfAFork: undefined }));
    expect(await buy(failed.transactionHash)).toMatchObject({ status: 200 });
    node.lies = {};
  });
});

/** The headers with an unknown field that the service has counted. */
async function unreadHeaders(): Promise<number> {
  const text = await (await fetch(`${deployment.adminUrl}/metrics`)).text();
  return Number(/^attestd_unread_headers_total\{reason="unknown_field"\} (\d+)$/m.exec(text)?.[1]);
}

/** The payer's USDC on the ledger. */
async function payerHas(): Promise<bigint> {
  const { algorand, payers } = deployment.sandbox;
  const response = await fetch(`${algorand.networkUrl}/v2/accounts/${payers.algorand.address}/assets/31566704`);
  const { "asset-holding": holding } = (await response.json()) as { "asset-holding": { amount: number } };
  return BigInt(holding.amount);
}

const hex = (value: number | bigint) => `0x${value.toString(16)}`;
const FIELDS = (
  "parentHash sha3Uncles miner stateRoot transactionsRoot receiptsRoot logsBloom difficulty number gasLimit gasUsed " +
  "timestamp extraData mixHash nonce baseFeePerGas withdrawalsRoot blobGasUsed excessBlobGas parentBeaconBlockRoot requestsHash " +
  "blockAccessListHash slotNumber"
).split(" ");
const QUANTITIES =
  "difficulty number gasLimit gasUsed timestamp baseFeePerGas blobGasUsed excessBlobGas slotNumber".split(" ");

/** A header's hash, by viem. `more`: fields behind those of today. */
function hashOf(header: Json, more: readonly string[] = []): Hex {
  const fields = [...FIELDS, ...more]
    .filter((name) => header[name] !== undefined && header[name] !== null)
    .map((name) => {
      const digits = String(header[name]).slice(2);
      if (!QUANTITIES.includes(name)) return `0x${digits}` as const;
      const short = digits.replace(/^0+/, "");
      return `0x${short.length % 2 === 0 ? short : `0${short}`}` as const;
    });
  return keccak256(toRlp(fields));
}

/** The lies of a node that puts the transaction that failed in another block, each consistent with the others. */
function ofBlock(change: (header: Json) => Json, more: readonly string[] = []): Lies {
  let lie: Json | undefined;
  const block = async (): Promise<Json> => {
    if (lie) return lie;
    const header = change((await node.ask("eth_getBlockByNumber", [hex(failed.blockNumber), false])) as Json);
    lie = { ...header, hash: hashOf(header, more) };
    return lie;
  };
  return {
    eth_getTransactionReceipt: async (receipt) => {
      const { hash, number } = await block();
      return { ...receipt, blockHash: hash, blockNumber: number };
    },
    eth_getBlockByNumber: async (answer, [tag]) => {
      const other = await block();
      return tag === other.number ? other : answer;
    },
  };
}

/** A proxy before a node, which may lie. */
async function startLiar() {
  const ask = async (method: string, params: unknown[]): Promise<unknown> => {
    const { json } = await post(liar.target, { jsonrpc: "2.0", id: 1, method, params });
    return json.result;
  };
  const server = createServer(async (request, response) => {
    const { id, method, params } = JSON.parse(Buffer.concat(await request.toArray()).toString());
    const { json } = await post(liar.target, { jsonrpc: "2.0", id, method, params });
    const lie = liar.lies[method];
    const answer = lie && json.result ? { jsonrpc: "2.0", id, result: await lie(json.result as Json, params) } : json;
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify(answer));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const liar = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    target: "",
    lies: {} as Lies,
    ask,
    close: () => new Promise((resolve) => server.close(resolve).closeAllConnections()),
  };
  return liar;
}

import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { cp, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type BlockBundle, bundleId, type InclusionBundle, parseNote, type SignedBundle } from "@attestd/proof";
import {
  decodeMsgpackMap,
  encodeMsgpack,
  getBytes,
  blockHash as hashOfHeader,
  headerRound,
  type MsgpackMap,
  restoreTransaction,
  splitBlock,
  structMap,
  transactionLeaf,
  treeRoot,
  txid,
} from "@attestd/proof/algorand";
import { encodeNote } from "@attestd/proof/attestor";
import { fromBase64, toBase64 } from "@attestd/proof/encoding";
import type { x402Client } from "@x402/core/client";
import { decodePaymentResponseHeader } from "@x402/core/http";
import { createWalletClient, defineChain, type Hex, http, publicActions, toHex } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { RECORDED } from "../../packages/proof/test/vectors.ts";
import { secret } from "../../packages/service/test/settings.ts";
import { signBundle, testAttestor } from "../bundles/bundles.ts";
import { type Deployment, pay, post, sign, startDeployment } from "./deployment.ts";
import { outsider } from "./ledger.ts";
import { type Rail, type RailName, railsOf } from "./rails.ts";

const replay = join(RECORDED, "replay");

/** The service's key, with which a test signs bundles that an honest attestor would not sign. */
const attestor = testAttestor("e2e blocks");
const SEED = createHash("sha256").update("pq e2e blocks").digest("hex");

/** Proofs bought of one recorded block, whose every transaction `block-work.test.ts` of its chain proves. */
const MOST_PROOFS = 4;

type Chain = "algorand" | "base";
type Place = { chain: Chain; txId: string; height: number };

/** A block of three transactions on its own network, replayed like a recording: the first is a large state proof. */
const MADE = makeBlock();
function makeBlock(): { answer: Uint8Array; places: Place[] } {
  const genesis = { gen: "made-v1", gh: new Uint8Array(32).fill(3) };
  const stripped = [
    { type: "stpf", sp: structMap({ c: new Uint8Array(178_000).fill(5) }) },
    { type: "pay", amt: 1 },
    { type: "pay", amt: 2 },
  ].map((fields) => structMap({ fv: 1, lv: 1000, snd: new Uint8Array(32).fill(1), ...fields }));
  const entries = stripped.map((txn) => structMap({ hgi: true, txn }));
  const transactions = stripped.map((txn) => encodeMsgpack(structMap({ ...Object.fromEntries(txn), ...genesis })));
  const root = (tree: "txn" | "txn256") =>
    treeRoot(
      tree,
      transactions.map((bytes, index) => transactionLeaf(tree, bytes, encodeMsgpack(entries[index] as MsgpackMap))),
    );
  const height = 777;
  const header = { ...genesis, rnd: height, tc: 3, txn: root("txn"), txn256: root("txn256") };
  const answer = encodeMsgpack(structMap({ block: structMap({ ...header, txns: entries }) }));
  return { answer, places: transactions.map((bytes) => ({ chain: "algorand", txId: txid(bytes), height })) };
}

let deployment: Deployment;
let folder: string;
let rails: Record<RailName, Rail>;
const requests: string[] = [];
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "attestd-replay-"));
  await cp(replay, folder, { recursive: true });
  await mkdir(join(folder, "algorand/blocks"), { recursive: true });
  await writeFile(join(folder, "algorand/blocks/made.msgpack"), MADE.answer);
  deployment = await startDeployment(
    { roundMs: 250, replayDir: folder, onRequest: ({ method, url }) => requests.push(`${method} ${url}`) },
    { attestor: { pq_seed: secret(SEED) } },
  );
  rails = await railsOf(deployment.sandbox);
  // The first block waits for a thread to start, which a payment on Algorand, good for ten short rounds, might not.
  await Promise.all([prove(samples().base), prove(samples().base)]);
});
afterAll(async () => {
  await deployment.close();
  await rm(folder, { recursive: true });
});

/** Buys several at once. Payments are signed one by one: two of one millisecond would be the same. */
async function buy(path: string, body: object, client = clientFor("algorand")) {
  const url = `${deployment.url}${path}`;
  const signed = turn.then(() => sign(url, body, client));
  turn = signed.catch(() => undefined);
  return pay(url, body, await signed);
}
let turn: Promise<unknown> = Promise.resolve();

function clientFor(chain: Chain): x402Client {
  return chain === "base" ? rails.base.client : rails.algorand.client;
}

async function attestBlock(chain: Chain, height: number): Promise<BlockBundle> {
  const answer = await buy("/attest-block", { chain, height }, clientFor(chain));
  expect(answer.status, answer.text).toBe(200);
  return JSON.parse(answer.text);
}

async function prove(place: Place): Promise<InclusionBundle> {
  const answer = await buy("/prove-tx-inclusion", place, clientFor(place.chain));
  expect(answer.status, answer.text).toBe(200);
  return JSON.parse(answer.text);
}

const verifyBlock = (bundle: unknown, query = "") => post(`${deployment.url}/verify-block${query}`, bundle);
const verifyInclusion = (bundle: unknown, query = "") => post(`${deployment.url}/verify-tx-inclusion${query}`, bundle);

/** The checks that a bundle fails, each once. */
async function failures(verify: typeof verifyBlock, bundle: unknown, query = ""): Promise<string[]> {
  const { status, json } = await verify(bundle, query);
  expect([status, json.code]).toEqual([400, "bundle_rejected"]);
  const { failures } = json.report as { failures: { check: string }[] };
  return [...new Set(failures.map(({ check }) => check))];
}

async function rpc<T>(method: string, ...params: unknown[]): Promise<T> {
  const body = { jsonrpc: "2.0", id: 1, method, params };
  return (await post(deployment.sandbox.baseRpcUrl ?? "", body)).json.result as T;
}

/** The places of the sandbox's sample transactions. */
function samples(): Record<Chain, Place> {
  const { algorand, algorandHeight, base, baseHeight } = deployment.sandbox.sampleTransactions;
  return {
    algorand: { chain: "algorand", txId: algorand, height: algorandHeight },
    base: { chain: "base", txId: base ?? "", height: baseHeight ?? 0 },
  };
}

describe.each(["algorand", "base"] as const)("the sandbox's blocks of %s", (chain) => {
  test("are attested, and proven to contain the sample", async () => {
    const place = samples()[chain];
    const [block, inclusion] = await Promise.all([attestBlock(chain, place.height), prove(place)]);
    expect(block).toMatchObject({ type: "block-attestation", block: { chain, height: place.height } });
    expect(inclusion).toMatchObject({ type: "tx-inclusion", block: block.block, source: { chain, txnId: place.txId } });
    for (const [bundle, verify] of [
      [block, verifyBlock],
      [inclusion, verifyInclusion],
    ] as const) {
      expect(parseNote(bundle.attest.note)).toMatchObject({
        b: block.block.blockHash,
        g: deployment.sandbox.ledgerCaip2,
        h: block.block.hashSha256,
        l: "finalized",
        n: place.height,
      });
      expect((await verify(bundle)).json).toMatchObject({ verified: true, type: bundle.type, warnings: ["sandbox"] });
      for (const query of ["?chain=1", "?chain=true"])
        expect((await verify(bundle, query)).json).toMatchObject({
          verified: true,
          checks: { chainSource: "pass", chainAttest: "pass" },
        });
      expect(await (await fetch(`${deployment.url}/bundles/${bundleId(bundle)}`)).json()).toEqual(bundle);
    }
  });
});

test("the proof of Base's sample has its receipt", async () => {
  expect(await prove(samples().base)).toMatchObject({ inclusion: { kind: "mpt", receipt: {} } });
});

describe("every rail that can pay for a source", () => {
  test.each<[Chain, RailName]>([
    ["base", "base"],
    ["base", "algorand"],
    ["base", "solana"],
    ["algorand", "algorand"],
  ])("%s is paid on %s for both products", async (chain, railName) => {
    const rail = rails[railName];
    const place = samples()[chain];
    const before = await rail.received();
    const [block, inclusion] = await Promise.all([
      buy("/attest-block", { chain, height: String(place.height) }, rail.client),
      buy("/prove-tx-inclusion", place, rail.client),
    ]);
    for (const answer of [block, inclusion]) {
      expect(answer.status, answer.text).toBe(200);
      const receipt = decodePaymentResponseHeader(answer.headers.get("payment-response") as string);
      expect(receipt).toMatchObject({ success: true, payer: rail.payer });
    }
    expect((await verifyBlock(block.text)).json.verified).toBe(true);
    expect((await verifyInclusion(inclusion.text)).json.verified).toBe(true);
    expect((await rail.received()) - before).toBe(2000n);
  });

  test("a payment buys one bundle, any number of times, and no other", async () => {
    const { chain, height, txId } = samples().algorand;
    const url = `${deployment.url}/attest-block`;
    const payment = await sign(url, { chain, height }, clientFor("algorand"));
    const first = await pay(url, { chain, height }, payment);
    expect(first.status).toBe(200);
    expect(await pay(url, { height: String(height), chain }, payment)).toMatchObject({ status: 200, text: first.text });
    for (const [path, body] of [
      ["/attest-block", { chain, height: height + 1 }],
      ["/prove-tx-inclusion", { chain, txId, height }],
      ["/attest", { txid: txId }],
    ] as const)
      expect(await pay(deployment.url + path, body, payment)).toMatchObject({
        status: 409,
        json: { code: "payment_bound_to_other_request" },
      });
  });

  test("is offered, also to a crawler's probe, without asking a chain", async () => {
    requests.length = 0;
    const networks = async (path: string, body?: object) => {
      const { status, json } = body ? await post(deployment.url + path, body) : await probe(path);
      expect(status).toBe(402);
      return (json.accepts as { network: string; amount: string }[]).map(({ network, amount }) => {
        expect(amount).toBe("1000");
        return network.split(":")[0];
      });
    };
    const { algorand, base } = samples();
    for (const [path, body] of [
      ["/attest-block", (chain: Chain) => ({ chain, height: 1 })],
      ["/prove-tx-inclusion", (chain: Chain) => ({ ...(chain === "base" ? base : algorand), height: 99 })],
    ] as const) {
      expect(await networks(path)).toEqual(["algorand", "eip155", "solana"]);
      expect(await networks(path, body("algorand"))).toEqual(["algorand"]);
      expect(await networks(path, body("base"))).toEqual(["eip155", "algorand", "solana"]);
    }
    expect(requests.filter((request) => /\/v2\/transactions|pending|\/(verify|settle)/.test(request))).toEqual([]);
  });
});

async function probe(path: string) {
  const response = await fetch(deployment.url + path, { method: "POST" });
  return { status: response.status, json: (await response.json()) as Record<string, unknown> };
}

describe("a refused request is not charged", () => {
  test.each<[string, () => [path: string, body: object], object]>([
    [
      "a transaction in another block",
      () => ["/prove-tx-inclusion", { ...samples().algorand, height: samples().algorand.height + 1 }],
      { status: 404, json: { code: "source_elsewhere" } },
    ],
    [
      "a transaction in a block far above the chain",
      () => ["/prove-tx-inclusion", { ...samples().base, height: 4_000_000_000 }],
      { status: 404, json: { code: "source_elsewhere" } },
    ],
    [
      "an unknown transaction",
      () => ["/prove-tx-inclusion", { ...samples().base, txId: `0x${"5".repeat(64)}` }],
      { status: 404, json: { code: "source_not_found" } },
    ],
    [
      "a round to come",
      () => ["/attest-block", { chain: "algorand", height: 4_000_000_000 }],
      { status: 404, json: { code: "block_not_found" } },
    ],
    [
      "a block to come",
      () => ["/attest-block", { chain: "base", height: 4_000_000_000 }],
      { status: 404, json: { code: "block_not_found" } },
    ],
  ])("%s", async (_, request, expected) => {
    const before = await outsider(deployment.sandbox).balance();
    const [path, body] = request();
    const answer = await buy(path, body);
    expect(answer).toMatchObject(expected);
    if (answer.json.code === "source_elsewhere")
      expect([samples().algorand.height, samples().base.height]).toContain(answer.json.height);
    expect(await outsider(deployment.sandbox).balance()).toBe(before);
  });

  test("a block that is not final", async () => {
    const before = await outsider(deployment.sandbox).balance();
    await rpc("evm_setIntervalMining", 0);
    try {
      const height = Number(await rpc<Hex>("eth_blockNumber"));
      const answer = await buy("/attest-block", { chain: "base", height });
      expect(answer).toMatchObject({ status: 409, json: { code: "source_not_final" } });
      expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
      expect(await buy("/attest-block", { chain: "base", height: height - 2 })).toMatchObject({ status: 200 });
    } finally {
      await rpc("evm_setIntervalMining", 1);
    }
    expect(before - (await outsider(deployment.sandbox).balance())).toBe(1000n);
  });

  test.each([
    ["/attest-block", { height: 1 }, "/chain"],
    ["/attest-block", { chain: "base" }, "/height"],
    ["/attest-block", { chain: "base", height: -1 }, "/height"],
    ["/attest-block", { chain: "base", height: "1.0" }, "/height"],
    ["/attest-block", { chain: "base", height: 1, txid: "x" }, "/txid"],
    ["/prove-tx-inclusion", { chain: "base", height: 1 }, "/txId"],
    ["/prove-tx-inclusion", { chain: "base", height: 1, txId: "short" }, "/txId"],
    ["/prove-tx-inclusion", { chain: "algorand", height: 1, txId: `0x${"5".repeat(64)}` }, "/txId"],
  ])("%s %j, which is refused before a price is named", async (path, body, pointer) => {
    const { status, json } = await post(deployment.url + path, body);
    expect([status, json.code]).toEqual([400, "body_invalid"]);
    expect(json.errors).toContainEqual(expect.objectContaining({ pointer }));
  });
});

describe("a change that has our own signature", () => {
  const resigned = <B extends SignedBundle>(bundle: B, change: (copy: B) => void): SignedBundle => {
    const { signature: _, ...copy } = structuredClone(bundle);
    change(copy as B);
    return signBundle(attestor, copy) as unknown as SignedBundle;
  };
  const flipped = (base64: string, at = 0) => {
    const bytes = fromBase64(base64);
    bytes[at] = (bytes[at] as number) ^ 1;
    return toBase64(bytes);
  };
  const renote = (bundle: SignedBundle, change: object) => {
    bundle.attest.note = encodeNote({ ...parseNote(bundle.attest.note), ...change } as never);
  };

  let algorand: InclusionBundle;
  let base: InclusionBundle;
  let block: BlockBundle;
  beforeAll(async () => {
    [algorand, base, block] = await Promise.all([
      prove(MADE.places[1] as Place),
      prove(samples().base),
      attestBlock("base", samples().base.height),
    ]);
  });

  test.each<[string, (bundle: InclusionBundle) => void, string[]]>([
    [
      "header",
      ({ block: of }) => set(of, "headerBase64", flipped(of.headerBase64, 60)),
      ["hashPreimage", "blockHash", "note"],
    ],
    ["block hash", ({ block: of }) => set(of, "blockHash", MADE.places[0]?.txId ?? ""), ["blockHash"]],
    ["height", ({ block: of }) => set(of, "height", of.height + 1), ["blockHash"]],
    [
      "transaction",
      ({ source }) => set(source, "txnBytesBase64", flipped(source.txnBytesBase64, 40)),
      ["hashPreimage", "transactionId", "inclusion"],
    ],
    [
      "sibling",
      ({ inclusion }) =>
        inclusion.kind === "algorand-merkle" &&
        set(
          inclusion,
          "siblings",
          inclusion.siblings.map((sibling) => flipped(sibling)),
        ),
      ["inclusion"],
    ],
    [
      "in-block map",
      ({ inclusion }) =>
        inclusion.kind === "algorand-merkle" && set(inclusion, "stibBase64", flipped(inclusion.stibBase64)),
      ["inclusion"],
    ],
    ["index", ({ inclusion }) => set(inclusion, "index", inclusion.index ^ 1), ["inclusion"]],
    ["tree", ({ inclusion }) => inclusion.kind === "algorand-merkle" && set(inclusion, "tree", "txn"), ["inclusion"]],
    ["note's height", (bundle) => renote(bundle, { n: bundle.block.height + 1 }), ["note"]],
    ["note's hash", (bundle) => renote(bundle, { h: "0".repeat(64) }), ["note"]],
    ["note's level", (bundle) => renote(bundle, { l: "safe" }), ["note"]],
  ])("in an Algorand inclusion's %s is named", async (_, change, checks) => {
    expect(await failures(verifyInclusion, resigned(algorand, change))).toEqual(expect.arrayContaining(checks));
    if (checks.length === 1) expect(await failures(verifyInclusion, resigned(algorand, change))).toEqual(checks);
  });

  test.each<[string, (inclusion: Extract<InclusionBundle["inclusion"], { kind: "mpt" }>) => void]>([
    ["index", (inclusion) => set(inclusion, "index", inclusion.index + 1)],
    [
      "root node",
      (inclusion) => set(inclusion, "nodes", inclusion.nodes.with(0, flipped(inclusion.nodes[0] ?? "", 9))),
    ],
    [
      "leaf",
      (inclusion) => set(inclusion, "nodes", inclusion.nodes.with(-1, flipped(inclusion.nodes.at(-1) ?? "", 40))),
    ],
    ["trailing node", (inclusion) => inclusion.nodes.push(inclusion.nodes[0] ?? "")],
    ["receipt", ({ receipt }) => receipt && set(receipt, "bytesBase64", flipped(receipt.bytesBase64, 20))],
    ["receipt's nodes", ({ receipt }) => receipt?.nodes.pop()],
  ])("in a Base inclusion's %s is named", async (_, change) => {
    const changed = resigned(base, ({ inclusion }) => inclusion.kind === "mpt" && change(inclusion));
    expect(await failures(verifyInclusion, changed)).toEqual(["inclusion"]);
  });

  test.each<[string, (bundle: BlockBundle) => void, string[]]>([
    [
      "header",
      ({ block: of }) => set(of, "headerBase64", flipped(of.headerBase64, 9)),
      ["hashPreimage", "blockHash", "note"],
    ],
    ["hash", ({ block: of }) => set(of, "blockHash", `0x${"1".repeat(64)}`), ["blockHash"]],
    ["height", ({ block: of }) => set(of, "height", of.height - 1), ["blockHash"]],
    ["fingerprint", ({ block: of }) => set(of, "hashSha256", "0".repeat(64)), ["hashPreimage"]],
    ["note's chain", (bundle) => renote(bundle, { c: "eip155:1" }), ["note"]],
  ])("in a block's %s is named", async (_, change, checks) => {
    expect(await failures(verifyBlock, resigned(block, change))).toEqual(checks);
  });

  test("is found on the chain when the bytes alone cannot show it", async () => {
    const { chain, height } = samples().algorand;
    const sample = await attestBlock(chain, height);
    const header = decodeMsgpackMap(fromBase64(sample.block.headerBase64)).set("ts", 1);
    const lie = resigned(sample, (copy) => {
      const bytes = encodeMsgpack(header);
      const hashSha256 = createHash("sha256").update(bytes).digest("hex");
      Object.assign(copy.block, { headerBase64: toBase64(bytes), blockHash: hashOfHeader(bytes), hashSha256 });
      renote(copy, { b: copy.block.blockHash, h: hashSha256 });
    });
    expect((await verifyBlock(lie)).json.verified).toBe(true);
    // The note on the ledger differs, too.
    expect(await failures(verifyBlock, lie, "?chain=1")).toEqual(["chainSource", "chainAttest"]);
  });

  test("is not needed to reject a bundle of another type", async () => {
    const routes = { "/verify": undefined, "/verify-block": block, "/verify-tx-inclusion": base };
    for (const path of Object.keys(routes))
      for (const [own, bundle] of Object.entries(routes)) {
        if (own === path || bundle === undefined) continue;
        const { status, json } = await post(deployment.url + path, bundle);
        expect([status, json.code]).toEqual([400, "bundle_rejected"]);
        expect(json.report).toMatchObject({
          checks: { schema: "fail" },
          failures: [{ check: "schema", pointer: "/type" }],
        });
      }
  });
});

function set<T, K extends keyof T>(object: T, member: K, value: T[K]): void {
  object[member] = value;
}

describe("large transactions", () => {
  test("a state proof of 178 KB is attested, proven and verified", async () => {
    const [large] = MADE.places;
    const bundle = await prove(large as Place);
    expect(fromBase64(bundle.source.txnBytesBase64).length).toBeGreaterThan(178_000);
    expect((await verifyInclusion(bundle, "?chain=1")).json.verified).toBe(true);
  });

  test("128 KB of call data on Base are attested, proven and verified", async () => {
    const { baseRpcUrl = "", payers } = deployment.sandbox;
    const chain = defineChain({
      id: 8453,
      name: "",
      nativeCurrency: { name: "", symbol: "", decimals: 18 },
      rpcUrls: { default: { http: [baseRpcUrl] } },
    });
    const account = privateKeyToAccount(payers.base?.privateKey as Hex);
    const wallet = createWalletClient({ account, chain, transport: http() }).extend(publicActions);
    const data = toHex(new Uint8Array(128 * 1024).fill(0xab));
    const hash = await wallet.sendTransaction({ to: account.address, data, gas: 6_000_000n });
    const { blockNumber } = await wallet.waitForTransactionReceipt({ hash, pollingInterval: 50 });
    for (let blocks = 0; blocks < 2; blocks++) await rpc("evm_mine");
    const bundle = await prove({ chain: "base", txId: hash, height: Number(blockNumber) });
    expect(fromBase64(bundle.source.txnBytesBase64).length).toBeGreaterThan(128 * 1024);
    expect((await verifyInclusion(bundle, "?chain=1")).json.verified).toBe(true);
  });
});

describe("recorded blocks", () => {
  const json = (path: string) => JSON.parse(readFileSync(join(replay, path), "utf8"));
  const files = (path: string) => readdirSync(join(replay, path)).map((name) => join(path, name));

  /** Attests a block, proves its transactions (evenly chosen if many), and verifies all bundles against the chain. */
  async function provesWhole(chain: Chain, height: number, ids: readonly string[], caip2: string) {
    const step = Math.ceil(ids.length / MOST_PROOFS);
    const chosen = [...ids.entries()].filter(([index]) => index % step === 0);
    const [block, ...inclusions] = await Promise.all([
      attestBlock(chain, height),
      ...chosen.map(([, txId]) => prove({ chain, txId, height })),
    ]);
    expect(parseNote(block.attest.note)).toMatchObject({ c: caip2, n: height });
    const verified = await Promise.all([
      verifyBlock(block, "?chain=1"),
      ...inclusions.map((bundle) => verifyInclusion(bundle, "?chain=1")),
    ]);
    expect(verified.map(({ json: report }) => report.verified)).toEqual(verified.map(() => true));
    expect(inclusions.map(({ source, inclusion }) => [inclusion.index, source.txnId])).toEqual(chosen);
    for (const inclusion of inclusions) expect(inclusion.block).toEqual(block.block);
  }

  test("of OP Stack chains", async () => {
    for (const file of files("base/blocks")) {
      const { number, transactions } = json(file);
      await provesWhole(
        "base",
        number,
        transactions.map(({ hash }: { hash: string }) => hash),
        "eip155:8453",
      );
    }
  });

  test("of Algorand networks", async () => {
    for (const file of files("algorand/blocks")) {
      const { header, transactions } = splitBlock(readFileSync(join(replay, file)));
      const ids = transactions.map((entry) => txid(encodeMsgpack(restoreTransaction(entry, header))));
      const genesis = (getBytes(header, "gh", 32) ?? new Uint8Array()).toBase64({ alphabet: "base64url" });
      await provesWhole("algorand", headerRound(header), ids, `algorand:${genesis.slice(0, 32)}`);
    }
  });
});

test("/block-capabilities lists what is sold about blocks, and what it does not prove", async () => {
  const capabilities = (await (await fetch(`${deployment.url}/block-capabilities`)).json()) as Record<string, never>;
  expect(capabilities).toMatchObject({
    chains: {
      algorand: { levels: { required: "finalized" }, inclusion: { kind: "algorand-merkle" } },
      base: { levels: { known: ["included", "safe", "finalized"], required: "finalized" }, inclusion: { kind: "mpt" } },
    },
    limits: { blocksPerRequest: 1, bundleBytes: 2 * 1024 * 1024 },
    doesNotProve: expect.arrayContaining([expect.stringMatching(/consensus itself is not verified/)]),
  });
});

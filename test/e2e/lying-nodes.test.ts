import { type ProofBundle, parseNote } from "@attestd/proof";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import type { Table } from "../../packages/service/test/settings.ts";
import { type FaultProxy, type Match, type ProxiedResponse, startFaultProxy } from "../crash/fault-proxy.ts";
import { type Answer, type Deployment, pay, payUntilAnswered, post, sign, startDeployment } from "./deployment.ts";
import { type RailName, railsOf } from "./rails.ts";

/*
 * Nodes of one chain, of which one lies, lags or is away: what is signed, and what counts as money, needs a majority of them.
 * Each node is a proxy before the sandbox's own.
 */

/** More rounds than a whole sale takes of who is satisfied with the first answer. */
const LATE_ROUNDS = 4;

type Chain = "algod" | "indexer" | "base" | "solana";
let deployment: Deployment;
let rails: Awaited<ReturnType<typeof railsOf>>;
/** The first lies, lags or is away; the others are honest. */
let nodes: Record<Chain, [FaultProxy, FaultProxy, FaultProxy]>;
beforeAll(async () => {
  deployment = await startDeployment({ roundMs: 500 });
  const { sandbox } = deployment;
  rails = await railsOf(sandbox);
  const origins = {
    algod: sandbox.algodUrl,
    indexer: sandbox.indexerUrl,
    base: sandbox.baseRpcUrl as string,
    solana: sandbox.solanaRpcUrl as string,
  };
  nodes = Object.fromEntries(
    await Promise.all(
      Object.entries(origins).map(async ([chain, origin]) => {
        return [chain, [await startFaultProxy(origin), await startFaultProxy(origin), await startFaultProxy(origin)]];
      }),
    ),
  );
});
afterEach(() => {
  for (const node of Object.values(nodes).flat()) node.heal();
});
afterAll(async () => {
  await deployment?.close();
  await Promise.all(Object.values(nodes ?? {}).flatMap((all) => all.map((node) => node.close())));
});

/** Starts the service on some of a chain's nodes; of every other chain it has one honest node. */
async function run(chain: Chain, count: 2 | 3, over: Table = {}) {
  const urls = (name: Chain) => nodes[name].slice(...(name === chain ? [0, count] : [1, 2])).map(({ url }) => url);
  const chains = {
    algorand: { algod: urls("algod"), indexer: urls("indexer") },
    base: { rpc: urls("base") },
    solana: { rpc: urls("solana") },
  };
  await deployment.restart({ provider_quorum: undefined, chains, ...over });
}

/** Resolves when a sale that waits for no second answer would have been delivered. */
async function late(): Promise<void> {
  const { ledger } = deployment.sandbox.algorand;
  await ledger.reached(ledger.round + LATE_ROUNDS, AbortSignal.timeout(60_000));
}

const attestUrl = () => `${deployment.url}/attest`;
const baseSample = () => deployment.sandbox.sampleTransactions.base as string;
const algorandSample = () => deployment.sandbox.sampleTransactions.algorand;

async function buy(txid: string, rail: RailName = "algorand"): Promise<Answer> {
  return pay(attestUrl(), { txid }, await sign(attestUrl(), { txid }, rails[rail].client));
}

const noteIn = (answer: Answer) => parseNote((answer.json as unknown as ProofBundle).attest.note) as { s?: number };
const refused = (code: string) => ({ status: 503, json: { code } });

type Result = Record<string, unknown> | null;

/** Lets a JSON-RPC node answer a method with something else than the truth. */
function lie(node: FaultProxy, method: string, change: (result: never) => unknown, match: Match = {}) {
  node.add({
    match: { body: `"${method}"`, ...match },
    fault: {
      kind: "wrong",
      change(response) {
        const answers = JSON.parse(response.body.toString()) as { result?: Result } | { result?: Result }[];
        const changed = [answers].flat().map((one) => ({ ...one, result: change(one.result as never) }));
        return { ...response, body: Buffer.from(JSON.stringify(Array.isArray(answers) ? changed : changed[0])) };
      },
    },
  });
}

const turnedOver = (receipt: Result) => receipt && { ...receipt, status: receipt.status === "0x1" ? "0x0" : "0x1" };

describe("of a Base transaction that succeeded, whose receipt one node turns over", () => {
  const turnOver = () => lie(nodes.base[0], "eth_getTransactionReceipt", turnedOver);

  test("nothing is signed on that node's word while the honest one of two is slow", async () => {
    await run("base", 2);
    turnOver();
    nodes.base[1].add({ match: { body: "eth_getTransactionReceipt" }, onBefore: late });
    expect(await buy(baseSample())).toMatchObject(refused("providers_conflict"));
  });

  test.each<[string, (honest: FaultProxy) => unknown]>([
    ["is down", (honest) => honest.add({ match: {}, fault: { kind: "reset", side: "before" } })],
    [
      "refuses for its rate",
      (honest) => honest.add({ match: {}, fault: { kind: "error", side: "before", status: 429 } }),
    ],
    [
      "refuses receipts for its rate",
      (honest) =>
        honest.add({
          match: { body: "eth_getTransactionReceipt" },
          fault: { kind: "error", side: "before", status: 429 },
        }),
    ],
  ])("nor while that one %s", async (_, fail) => {
    await run("base", 2);
    const payment = await sign(attestUrl(), { txid: baseSample() }, rails.algorand.client);
    turnOver();
    fail(nodes.base[1]);
    const answer = await pay(attestUrl(), { txid: baseSample() }, payment);
    expect(answer).toMatchObject(refused("providers_unavailable"));
    for (const node of nodes.base) node.heal();
    // The same payment buys the truth once both are back.
    const sold = await payUntilAnswered(attestUrl(), { txid: baseSample() }, payment);
    expect([sold.status, noteIn(sold).s]).toEqual([200, 1]);
  });

  test("of three nodes the two honest ones outvote it", async () => {
    await run("base", 3);
    turnOver();
    const sold = await buy(baseSample());
    expect([sold.status, noteIn(sold).s]).toEqual([200, 1]);
  });

  test("an operator may rest on one of two, which is counted; then its lie is sold", async () => {
    await run("base", 2, { provider_quorum: 1, admin: { port: 0 } });
    turnOver();
    nodes.base[1].add({ match: {}, fault: { kind: "reset", side: "before" } });
    const sold = await buy(baseSample());
    expect([sold.status, noteIn(sold).s]).toEqual([200, 0]);
    const metrics = await (await fetch(`${deployment.adminUrl}/metrics`)).text();
    expect(Number(metrics.match(/^attestd_provider_minority_answers_total (\d+)$/m)?.[1])).toBeGreaterThan(0);
  });
});

describe("of a Base transaction", () => {
  test("that one of two nodes says it does not have, nobody is told that there is none", async () => {
    await run("base", 2);
    lie(nodes.base[0], "eth_getTransactionReceipt", () => null);
    expect((await buy(baseSample())).status).toBe(503);
  });

  test("that one of two nodes calls final, the level is the other's", async () => {
    await run("base", 2);
    const past = (head: Result) => head && { ...head, number: "0x0" };
    const last = JSON.stringify(["finalized", false]).slice(1, -1);
    for (const tag of [last, last.replace("finalized", "safe")])
      lie(nodes.base[1], "eth_getBlockByNumber", past, { body: tag });
    expect(await buy(baseSample())).toMatchObject({ status: 409, json: { code: "source_not_final" } });
  });

  test("one of two nodes that lags is no witness", async () => {
    await run("base", 2);
    lie(nodes.base[0], "eth_getTransactionReceipt", () => null);
    const old = (head: Result) => head && { ...head, number: "0x0", timestamp: "0x1" };
    lie(nodes.base[0], "eth_getBlockByNumber", old, { body: '"latest"' });
    expect(await buy(baseSample())).toMatchObject(refused("providers_unavailable"));
  });
});

describe("of an Algorand transaction", () => {
  test("nothing is signed of a block whose time one of two algods changes", async () => {
    await run("algod", 2);
    nodes.algod[0].add({
      match: { path: /^\/v2\/blocks\/\d+\?format=msgpack/ },
      fault: { kind: "wrong", change: (response) => ({ ...response, body: another(response.body) }) },
    });
    expect((await buy(algorandSample())).status).toBe(503);
  });

  /** A block with another time: msgpack of `ts` and a number of 32 bits. */
  function another(block: Buffer): Buffer {
    const at = block.indexOf(Buffer.from([0xa2, 0x74, 0x73, 0xce]));
    const changed = Buffer.from(block);
    if (at >= 0) changed.writeUInt32BE(block.readUInt32BE(at + 4) + 1, at + 4);
    return changed;
  }

  test("the word of one indexer of two, while the other is away, is not believed", async () => {
    await run("indexer", 2);
    const payment = await sign(attestUrl(), { txid: "A".repeat(52) }, rails.algorand.client);
    nodes.indexer[1].add({ match: {}, fault: { kind: "reset", side: "before" } });
    expect(await pay(attestUrl(), { txid: "A".repeat(52) }, payment)).toMatchObject(refused("providers_unavailable"));
    nodes.indexer[1].heal();
    expect(await payUntilAnswered(attestUrl(), { txid: "A".repeat(52) }, payment)).toMatchObject({ status: 404 });
  });
});

describe("a payment", () => {
  const BOUGHT = { status: 200 };
  /** The selector of authorizationState(address,bytes32), of EIP-3009. */
  const AUTHORIZATION_STATE = "0xe94a0102";
  const ofPayments = (body: Buffer) => body.includes("eth_getTransactionReceipt") && !body.includes(baseSample());

  test.each<[string, RailName & Chain, () => void]>([
    [
      "on Base, which one of two nodes shows as unused",
      "base",
      () => {
        lie(nodes.base[0], "eth_call", () => `0x${"0".repeat(64)}`, { body: AUTHORIZATION_STATE });
        lie(nodes.base[0], "eth_getTransactionReceipt", () => null, { body: ofPayments });
      },
    ],
    [
      "on Base, whose receipt one of two nodes turns over",
      "base",
      () => lie(nodes.base[0], "eth_getTransactionReceipt", turnedOver, { body: ofPayments }),
    ],
    [
      "on Solana, which one of two nodes shows as failed",
      "solana",
      () =>
        lie(nodes.solana[0], "getTransaction", (found: { meta: object } | null) => {
          return found && { ...found, meta: { ...found.meta, err: "AccountInUse" } };
        }),
    ],
    [
      "on Solana, which one of two nodes does not list",
      "solana",
      () => lie(nodes.solana[0], "getSignaturesForAddress", () => []),
    ],
    [
      "on Base, of which one of two nodes does not tell, for its rate,",
      "base",
      () => {
        for (const body of [AUTHORIZATION_STATE, ofPayments])
          nodes.base[0].add({ match: { body }, fault: { kind: "error", side: "before", status: 429 } });
      },
    ],
    [
      "on Solana, of which one of two nodes does not tell, for its rate,",
      "solana",
      () => {
        const match = { body: "getSignaturesForAddress" };
        nodes.solana[0].add({ match, fault: { kind: "error", side: "before", status: 429 } });
      },
    ],
  ])(
    "%s, is neither delivered for nor void, and the same one is delivered for once they agree",
    async (_, rail, tell) => {
      await run(rail, 2);
      const txid = baseSample();
      const before = await rails[rail].received();
      const payment = await sign(attestUrl(), { txid }, rails[rail].client);
      tell();
      const first = pay(attestUrl(), { txid }, payment);
      // It is made, and the liar's word against the honest node's decides nothing.
      await expect.poll(() => rails[rail].received(), { timeout: 20_000 }).toBe(before + 1_000n);
      const answered = await Promise.race([first, late()]);
      expect(answered).toBeUndefined();
      for (const node of nodes[rail]) node.heal();
      expect(await first).toMatchObject(BOUGHT);
      expect((await rails[rail].received()) - before).toBe(1_000n);
    },
  );
});

describe("one of three nodes, the first that is asked, stops no sale:", () => {
  type Json = Record<string, unknown>;
  const PARAMS = /^\/v2\/transactions\/params/;
  const SUBMISSION = { method: "POST", path: /^\/v2\/transactions$/ };
  const NO_TOKENS = `0x${"0".repeat(64)}`;

  /** Lets the first node of a chain answer with other JSON. */
  function answer(chain: Chain, path: RegExp, change: (json: Json) => Json) {
    const changed = (body: Buffer) => Buffer.from(JSON.stringify(change(JSON.parse(body.toString()) as Json)));
    const fault = { kind: "wrong", change: (r: ProxiedResponse) => ({ ...r, body: changed(r.body) }) } as const;
    nodes[chain][0].add({ match: { path }, fault });
  }

  test.each<[string, Chain, RailName, () => void]>([
    [
      "an algod that names another network to sign for",
      "algod",
      "base",
      () => answer("algod", PARAMS, (params) => ({ ...params, "genesis-id": "another-v1" })),
    ],
    [
      "an algod that asks for no fee",
      "algod",
      "base",
      () => answer("algod", PARAMS, (params) => ({ ...params, "min-fee": 0 })),
    ],
    [
      "an algod that takes attestations and passes them on to nobody",
      "algod",
      "base",
      () =>
        nodes.algod[0].add({ match: SUBMISSION, fault: { kind: "error", side: "before", status: 200, body: "{}" } }),
    ],
    [
      "an algod that shows the attestor's account as empty, and as rekeyed",
      "algod",
      "base",
      () =>
        answer("algod", /^\/v2\/accounts\/\w+\?exclude=all/, (account) => {
          return { ...account, amount: 0, "auth-addr": "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAY5HFKQ" };
        }),
    ],
    [
      "an algod that shows the payer's account as empty",
      "algod",
      "algorand",
      () =>
        answer("algod", /^\/v2\/accounts\/\w+\/assets\//, ({ "asset-holding": holding, ...rest }) => {
          return { ...rest, "asset-holding": { ...(holding as Json), amount: 0 } };
        }),
    ],
    [
      "a Base node that shows the payer's account as empty",
      "base",
      "base",
      () => lie(nodes.base[0], "eth_call", () => NO_TOKENS),
    ],
    [
      "a Solana node that shows the payer's account as empty",
      "solana",
      "solana",
      () => lie(nodes.solana[0], "getAccountInfo", (found: Json) => ({ ...found, value: null })),
    ],
    [
      "a Base node that calls nothing safe or final",
      "base",
      "algorand",
      () => {
        for (const body of ['"safe"', '"finalized"']) lie(nodes.base[0], "eth_getBlockByNumber", () => null, { body });
      },
    ],
    [
      "a Base node that leaves every question for a transaction's bytes unanswered",
      "base",
      "algorand",
      () => {
        for (const body of ["eth_getRaw", "debug_getRaw", "eth_getTransactionByHash"])
          nodes.base[0].add({ match: { body }, fault: { kind: "timeout", side: "before" } });
      },
    ],
    [
      "a Base node whose answers would take seconds to parse",
      "base",
      "algorand",
      () => {
        const body = "[".repeat(5_000_000);
        nodes.base[0].add({ match: {}, fault: { kind: "error", side: "before", status: 200, body } });
      },
    ],
  ])("%s", async (_, chain, rail, tell) => {
    tell();
    await run(chain, 3);
    expect(await buy(baseSample(), rail)).toMatchObject({ status: 200 });
  });
});

test("a bundle is not verified online on the word of one of two nodes", async () => {
  await run("base", 2);
  const sold = await buy(baseSample());
  expect(sold.status).toBe(200);
  await run("base", 2);
  nodes.base[1].add({ match: {}, fault: { kind: "reset", side: "before" } });
  expect((await post(`${deployment.url}/verify?chain=1`, sold.json)).status).toBe(503);
});

test("nodes of a chain that nobody pays on are named, too, when they are away", async () => {
  const now = vi.spyOn(Date, "now");
  try {
    for (const node of nodes.base.slice(0, 2)) node.add({ match: {}, fault: { kind: "reset", side: "before" } });
    await run("base", 2, {
      rails: { base: undefined },
      facilitators: [{ url: deployment.sandbox.facilitatorUrl, rails: ["algorand", "solana"] }],
    });
    const minuteLater = performance.timeOrigin + performance.now() + 61_000;
    now.mockImplementation(() => minuteLater);
    const { reasons } = (await (await fetch(`${deployment.url}/ready`)).json()) as { reasons: string[] };
    expect(reasons).toContainEqual(expect.stringMatching(/^witness_missing: 2 of 2 nodes of Base must agree/));
  } finally {
    now.mockRestore();
  }
});

import { afterEach, describe, expect, it } from "vitest";
import { FakeChain, FakeNodes, GENESIS_HASH, idOf, payment } from "../../test/fakes/algorand-providers.ts";
import { json, Upstream } from "../../test/fakes/providers.ts";
import { Algod } from "./algod.ts";
import { locate } from "./algorand-nodes.ts";
import { Indexer } from "./indexer.ts";

const never = new AbortController().signal;
const unavailable = expect.objectContaining({ code: "providers_unavailable" });
const conflict = expect.objectContaining({ code: "providers_conflict" });

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const each of open.splice(0)) await each.close();
});

async function start(...chains: FakeChain[]): Promise<FakeNodes> {
  const nodes = await FakeNodes.start(...chains);
  open.push(nodes);
  return nodes;
}

describe("Algod", () => {
  it("refuses parameters of another network, every time it is asked", async () => {
    const chain = new FakeChain();
    const [algod] = (await start(chain)).nodes.algods;
    expect(await algod?.params(never)).toEqual({ genesisId: "test-v1", lastRound: 0, minFee: 1000n, feePerByte: 0n });
    chain.genesisHash = "wGHE2Pwdvd7S12BL5FaOP20EGYesN73ktiC1qzkkit8=";
    await expect(algod?.params(never)).rejects.toThrow(/is on the network of genesis wGHE/);
  });

  it("sends its token where algod and indexer look for it", async () => {
    const seen: (string | string[] | undefined)[] = [];
    const upstream = await Upstream.start(({ headers }, response) => {
      seen.push(headers["x-algo-api-token"], headers["x-indexer-api-token"]);
      json(response, { "last-round": 1, "catchup-time": 0, "current-round": 1, transactions: [] });
    });
    open.push(upstream);
    await new Algod({ url: upstream.url, token: "a" }, GENESIS_HASH).lastRound(never);
    await new Indexer({ url: upstream.url, token: "b" }).transaction("X", never);
    expect(seen).toEqual(["a", undefined, "b", "b"]);
  });

  /** Answers of go-algorand v5.0.0 (`daemon/algod/api/server/v2/handlers.go`, GetSyncRound). */
  it.each<[string, number, object, boolean]>([
    ["with its sync round", 200, { round: 7 }, true],
    ["whose sync round is not set", 404, { message: "failed retrieving sync round from ledger" }, true],
    ["that is a node in normal mode", 404, { message: "Not Found" }, false],
  ])("recognizes a follower: one %s", async (_, status, body, isFollower) => {
    const upstream = await Upstream.start((_, response) => json(response, body, status));
    open.push(upstream);
    expect(await new Algod({ url: upstream.url }, GENESIS_HASH).isFollower(never)).toBe(isFollower);
  });

  it("is unavailable while it catches up", async () => {
    const chain = new FakeChain();
    chain.catchupTime = 1;
    const [algod] = (await start(chain)).nodes.algods;
    await expect(algod?.lastRound(never)).rejects.toEqual(unavailable);
  });
});

describe("locate", () => {
  const transaction = payment("somewhere");
  const id = idOf(transaction);

  function chainOf(rounds: number, at?: number): FakeChain {
    const chain = new FakeChain();
    for (let round = 1; round <= rounds; round++) chain.addRound(round === at ? [transaction] : []);
    return chain;
  }

  it("finds a recent transaction by algod alone", async () => {
    const { nodes, upstreams } = await start(chainOf(3, 2));
    expect(await locate(nodes, id, never)).toEqual({ round: 2 });
    expect(upstreams[0]?.requests.some((request) => request.includes("?txid="))).toBe(false);
  });

  it("finds an older one by the indexer", async () => {
    const chain = chainOf(1);
    const record = { id, "confirmed-round": 1 };
    chain.indexed.set(id, record);
    expect(await locate((await start(chain)).nodes, id, never)).toEqual({ round: 1, record });
  });

  it("finds no transaction when algod and a caught-up indexer lack it", async () => {
    const chain = chainOf(1);
    chain.recent.set(id, 0);
    expect(await locate((await start(chain)).nodes, id, never)).toBeUndefined();
  });

  it("is unavailable when the indexer ends before algod's memory begins", async () => {
    const chain = chainOf(1);
    Object.assign(chain, { latest: 5_000, indexedUpTo: 3_999 });
    const { nodes } = await start(chain);
    await expect(locate(nodes, id, never)).rejects.toEqual(unavailable);
    chain.indexedUpTo = 4_000;
    expect(await locate(nodes, id, never)).toBeUndefined();
  });

  it("is unavailable when either kind of node gives no answer", async () => {
    for (const path of ["/v2/status", "/v2/transactions?txid"]) {
      const { nodes, upstreams } = await start(chainOf(1));
      const [upstream] = upstreams as [Upstream];
      const answer = upstream.handler;
      upstream.handler = (request, response) =>
        request.url?.startsWith(path) ? void response.writeHead(503).end() : answer(request, response);
      await expect(locate(nodes, id, never)).rejects.toEqual(unavailable);
    }
  });

  it("believes neither of two algods that contradict", async () => {
    const fakes = await start(chainOf(3, 2), chainOf(3, 3));
    await expect(locate(fakes.nodes, id, never)).rejects.toEqual(conflict);
    expect(fakes.conflicts).toHaveLength(1);

    const liar = await start(chainOf(3, 2), chainOf(3));
    await expect(locate(liar.nodes, id, never)).rejects.toEqual(conflict);
  });

  it("does not take a node that lags for one that contradicts", async () => {
    const { nodes } = await start(chainOf(3, 3), chainOf(2), chainOf(3, 3));
    expect(await locate(nodes, id, never)).toEqual({ round: 3 });
    const { nodes: two } = await start(chainOf(3, 3), chainOf(2));
    await expect(locate(two, id, never)).rejects.toEqual(unavailable);
  });

  it("does not count the absence of a node that lags far behind", async () => {
    const { nodes } = await start(chainOf(20), chainOf(2), chainOf(2));
    await expect(locate(nodes, id, never)).rejects.toEqual(unavailable);
    expect(await locate((await start(chainOf(20), chainOf(19), chainOf(2))).nodes, id, never)).toBeUndefined();
  });
});

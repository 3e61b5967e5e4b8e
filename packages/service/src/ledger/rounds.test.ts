import { encodeMsgpack, structMap } from "@attestd/proof/algorand";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { blockOf, FakeChain, FakeNodes, GENESIS_HASH, idOf, payment } from "../../test/fakes/algorand-providers.ts";
import { innerIdOf } from "../chains/algorand/inner.ts";
import { runWork } from "../chains/block-work.ts";
import * as roundWork from "./round-work.ts";
import { RoundWatcher } from "./rounds.ts";

const never = new AbortController().signal;
const transaction = payment("ours");
const id = idOf(transaction);

let now: number;
beforeEach(() => {
  now = 42;
});
const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

async function watch(...chains: FakeChain[]) {
  const fakes = await FakeNodes.start(...chains);
  const onError = vi.fn();
  const watcher = new RoundWatcher({
    nodes: fakes.nodes,
    genesisHash: GENESIS_HASH,
    onError,
    retryMs: 1,
    now: () => now,
  });
  ends.push(
    () => fakes.close(),
    () => watcher.stop(),
  );
  watcher.start();
  return { watcher, onError, ...fakes };
}

function chainOf(rounds: number, at?: number): FakeChain {
  const chain = new FakeChain();
  for (let round = 1; round <= rounds; round++) chain.addRound(round === at ? [transaction] : []);
  return chain;
}

async function reaches(watcher: RoundWatcher, round: number): Promise<void> {
  while (watcher.latest() < round) await watcher.next(never);
}

describe("RoundWatcher", () => {
  it("keeps the newest blocks, and no memory but theirs", async () => {
    const { watcher } = await watch(chainOf(3));
    await watcher.next(never);
    const block = watcher.block(3);
    expect(block?.byteLength).toBeGreaterThan(0);
    expect(block?.buffer.byteLength).toBe(block?.byteLength);
  });

  it("has a large block taken apart elsewhere, and a small one here", async () => {
    const many = Array.from({ length: 1_500 }, (_, index) => payment(`${index} ${"x".repeat(100)}`));
    const chain = chainOf(2);
    chain.addRound(many);
    const fakes = await FakeNodes.start(chain);
    ends.push(() => fakes.close());
    const asked: string[] = [];
    const watcher = new RoundWatcher({
      nodes: fakes.nodes,
      genesisHash: GENESIS_HASH,
      run: async (name, args) => {
        asked.push(name);
        return runWork(roundWork, name, args);
      },
    });
    ends.push(() => watcher.stop());
    watcher.start();
    await reaches(watcher, 3);
    expect(asked).toEqual(["readBlock"]);
    const ids = many.map(idOf);
    for (const at of [0, 700, 1_499]) expect(await watcher.find(ids[at] as string, never)).toEqual({ round: 3 });
    chain.addRound([transaction]);
    await reaches(watcher, 4);
    expect(asked).toHaveLength(1);
  });

  it("follows the network from its present round, one wait and one block a round", async () => {
    const chain = chainOf(3);
    const { watcher, upstreams } = await watch(chain);
    expect([watcher.latest(), watcher.latestAt()]).toEqual([0, 0]);
    expect(await watcher.next(never)).toBe(3);
    expect(watcher.latestAt()).toBe(42);
    for (const round of [4, 5]) {
      const next = watcher.next(never);
      chain.addRound();
      expect(await next).toBe(round);
    }
    const asked = upstreams[0]?.requests.filter((request) => !request.includes("after/5"));
    expect(asked).toEqual([
      "GET /v2/status",
      ...[3, 4, 5].flatMap((round) => [
        `GET /v2/status/wait-for-block-after/${round - 1}`,
        `GET /v2/blocks/${round}?format=msgpack`,
      ]),
    ]);
  });

  it("is current while its latest round's header is younger than 20 s", async () => {
    const chain = new FakeChain();
    chain.addRound([], blockOf(1, [], {}, 1_000));
    now = 1_000_000;
    const { watcher } = await watch(chain);
    expect(watcher.isCurrent()).toBe(false);
    await reaches(watcher, 1);
    expect(watcher.isCurrent()).toBe(true);
    now += 20_000;
    expect(watcher.isCurrent()).toBe(false);
  });

  it("confirms everything in a block at once", async () => {
    const chain = chainOf(1);
    const { watcher } = await watch(chain);
    await reaches(watcher, 1);
    const transactions = Array.from({ length: 50 }, (_, i) => payment(`payment ${i}`));
    const window = { firstValid: 1, lastValid: 101 };
    const settled = transactions.map((each) => watcher.settled(idOf(each), window, never));
    chain.addRound(transactions);
    expect(new Set((await Promise.all(settled)).map((status) => JSON.stringify(status)))).toEqual(
      new Set(['{"state":"confirmed","round":2}']),
    );
  });

  it("calls a transaction dead in the round that ends its window, not before", async () => {
    const chain = chainOf(5);
    const { watcher, upstreams } = await watch(chain);
    await reaches(watcher, 5);
    const window = { firstValid: 5, lastValid: 7 };
    const settled = watcher.settled(id, window, never);
    chain.addRound();
    await reaches(watcher, 6);
    expect(await watcher.status(id, window, never)).toEqual({ state: "open" });
    chain.addRound();
    expect(await settled).toEqual({ state: "dead" });
    expect(upstreams[0]?.requests.some((request) => /pending|txid/.test(request))).toBe(false);
  });

  it("finds what was confirmed before it began by asking the nodes", async () => {
    const { watcher } = await watch(chainOf(5, 2));
    await reaches(watcher, 5);
    expect(await watcher.find(id, never)).toEqual({ round: 2 });
    expect(await watcher.status(id, { firstValid: 1, lastValid: 3 }, never)).toEqual({
      state: "confirmed",
      round: 2,
    });
  });

  it("asks the indexer alone about a source that is older than the rounds that were read", async () => {
    const chain = chainOf(5, 2);
    chain.indexed.set(id, { id, "confirmed-round": 2 });
    const { watcher, upstreams } = await watch(chain);
    await reaches(watcher, 5);
    const before = upstreams.map(({ requests }) => requests.length);
    expect(await watcher.search(id, never)).toMatchObject({ round: 2 });
    const since = upstreams.flatMap(({ requests }, i) => requests.slice(before[i]));
    expect(since.filter((request) => !request.includes("wait-for-block-after"))).toEqual([
      expect.stringContaining(`txid=${id}`),
    ]);
  });

  describe("about an id that no transaction has", () => {
    const scans = (requests: readonly string[] = []) => requests.filter((request) => request.includes("/pending/"));

    it("asks algod for no scan of its last 1,000 blocks: the rounds that were read and the indexer show it", async () => {
      const { watcher, upstreams } = await watch(chainOf(5));
      await reaches(watcher, 5);
      const [{ requests = [] } = {}] = upstreams;
      expect(await watcher.find(id, never, 5)).toBeUndefined();
      expect(await watcher.search(id, never)).toBeUndefined();
      expect(scans(requests)).toEqual([]);
      expect(requests.filter((request) => request.includes("txid="))).toHaveLength(1);
      // It may be in an earlier round.
      expect(await watcher.find(id, never, 4)).toBeUndefined();
      expect(scans(requests)).toHaveLength(1);
    });

    it("looks in the newest round that a node has, once it has been read", async () => {
      const chain = chainOf(5);
      const { watcher, upstreams } = await watch(chain);
      await reaches(watcher, 5);
      const [upstream] = upstreams;
      const answer = chain.handler;
      let isAsked = false;
      if (upstream)
        upstream.handler = (request, response) => {
          // The round comes while algod answers its last one.
          if (request.url === "/v2/status" && !isAsked) {
            isAsked = true;
            chain.addRound([transaction]);
          }
          answer(request, response);
        };
      expect(await watcher.find(id, never, 5)).toEqual({ round: 6 });
    });

    it("asks algod after all where the indexer does not know the rounds before", async () => {
      const chain = chainOf(5, 3);
      chain.indexedUpTo = 2;
      const { watcher } = await watch(chain);
      await reaches(watcher, 5);
      expect(await watcher.search(id, never)).toMatchObject({ round: 3 });
    });
  });

  it("finds an inner transaction of a round that was read by the round of its root", async () => {
    const chain = chainOf(1);
    const { watcher } = await watch(chain);
    await reaches(watcher, 1);
    const deepest = structMap({ type: "pay", fee: 2 });
    const inner = structMap({ type: "appl", fee: 1 });
    const dt = structMap({ itx: [structMap({ txn: inner, dt: structMap({ itx: [structMap({ txn: deepest })] }) })] });
    chain.addRound([], blockOf(2, [transaction], { dt }));
    await reaches(watcher, 2);
    const innerId = innerIdOf(id, 0, inner);
    expect(await watcher.search(innerId, never)).toEqual({ round: 2 });
    expect(await watcher.search(innerIdOf(innerId, 0, deepest), never)).toEqual({ round: 2 });
  });

  it("calls an old transaction dead only when every round of its window lacks it", async () => {
    const chain = chainOf(5);
    const { watcher, upstreams } = await watch(chain);
    await reaches(watcher, 5);
    expect(await watcher.find(id, never)).toBeUndefined();
    expect(await watcher.status(id, { firstValid: 2, lastValid: 4 }, never)).toEqual({ state: "dead" });
    expect(upstreams[0]?.requests.filter((request) => request.endsWith("txids"))).toEqual(
      [2, 3, 4].map((round) => `GET /v2/blocks/${round}/txids`),
    );
    expect(await watcher.status(id, { firstValid: 2, lastValid: 6 }, never)).toEqual({ state: "open" });
  });

  it("reads each old round once, whoever looks for something in it, and goes on where it was stopped", async () => {
    const chain = chainOf(60);
    const { watcher, upstreams } = await watch(chain);
    await reaches(watcher, 60);
    const [upstream] = upstreams;
    if (!upstream) throw new Error("no upstream");
    const lists = () => upstream.requests.filter((request) => request.endsWith("txids"));
    const window = { firstValid: 2, lastValid: 50 };
    const answer = upstream.handler;
    const stop = new AbortController();
    upstream.handler = (request, response) => {
      if (request.url?.includes("blocks/30/txids")) stop.abort(new Error("no time left"));
      return answer(request, response);
    };
    await expect(watcher.status(id, window, stop.signal)).rejects.toThrow("no time left");
    expect(lists().at(-1)).toBe("GET /v2/blocks/30/txids");
    upstream.handler = answer;
    upstream.requests.length = 0;
    const others = [1, 2, 3].map((i) => idOf(payment(`other ${i}`)));
    for (const each of [id, ...others]) expect(await watcher.status(each, window, never)).toEqual({ state: "dead" });
    expect(lists()).toEqual(Array.from({ length: 21 }, (_, i) => `GET /v2/blocks/${30 + i}/txids`));
  });

  it("asks the nodes no more about an open transaction that is in no round before its memory", async () => {
    const chain = chainOf(5);
    const { watcher, upstreams } = await watch(chain);
    await reaches(watcher, 5);
    const window = { firstValid: 2, lastValid: 1_002 };
    for (let round = 6; round <= 30; round++) {
      chain.addRound();
      await reaches(watcher, round);
    }
    expect(await watcher.status(id, window, never)).toEqual({ state: "open" });
    const asked = () => upstreams.flatMap(({ requests }) => requests).filter((request) => request.includes(id)).length;
    const once = asked();
    expect(once).toBeGreaterThan(0);
    for (let round = 31; round <= 40; round++) {
      chain.addRound();
      await reaches(watcher, round);
      expect(await watcher.status(id, window, never)).toEqual({ state: "open" });
    }
    expect(asked()).toBe(once);
    chain.addRound([transaction]);
    await reaches(watcher, 41);
    expect(await watcher.status(id, window, never)).toEqual({ state: "confirmed", round: 41 });
  });

  it("reads rounds with signatures, members and kinds of transactions that nobody knows yet", async () => {
    const chain = chainOf(1);
    const { watcher, onError } = await watch(chain);
    await reaches(watcher, 1);
    const strange = structMap({
      type: "f1",
      snd: new Uint8Array(32).fill(3),
      fv: 1,
      lv: 9,
      wat: structMap({ a: [null, 1] }),
    });
    const falcon = structMap({ sch: "f1", slt: 1, pk: new Uint8Array(1_793), sig: new Uint8Array(1_232) });
    chain.addRound([], blockOf(2, [strange, transaction], { pqsig: falcon, dx: structMap({ a: null }) }));
    await reaches(watcher, 2);
    expect(onError).not.toHaveBeenCalled();
    expect(await watcher.find(id, never)).toEqual({ round: 2 });
  });

  it("does not call a transaction dead when a round of its window cannot be read", async () => {
    const chain = chainOf(5);
    chain.blocks.delete(3);
    const { watcher } = await watch(chain);
    await reaches(watcher, 5);
    expect(await watcher.status(id, { firstValid: 2, lastValid: 4 }, never)).toEqual({ state: "open" });
  });

  it("finds an old transaction in a round's ids though look-ups miss it", async () => {
    const chain = chainOf(5, 3);
    const { watcher, upstreams } = await watch(chain);
    await reaches(watcher, 5);
    for (const upstream of upstreams) {
      const answer = upstream.handler;
      upstream.handler = (request, response) =>
        request.url?.includes("pending") ? response.writeHead(404).end() : answer(request, response);
    }
    const window = { firstValid: 2, lastValid: 4 };
    expect(await watcher.status(id, window, never)).toEqual({ state: "confirmed", round: 3 });
  });

  it("goes on where it was after its nodes were gone", async () => {
    const chain = chainOf(1);
    const { watcher, onError, upstreams } = await watch(chain);
    await reaches(watcher, 1);
    const [upstream] = upstreams;
    if (!upstream) throw new Error("no upstream");
    const answer = upstream.handler;
    const failed = new Promise<void>((resolve) => onError.mockImplementationOnce(() => resolve()));
    upstream.handler = (_, response) => response.socket?.destroy();
    chain.addRound([transaction]);
    await failed;
    chain.addRound();
    upstream.handler = answer;
    await reaches(watcher, 3);
    expect(await watcher.status(id, { firstValid: 1, lastValid: 101 }, never)).toEqual({
      state: "confirmed",
      round: 2,
    });
  });

  it("reads rounds on while one of three nodes is down, and lags behind none", async () => {
    const chains = [chainOf(1), chainOf(1), chainOf(1)] as const;
    const { watcher, upstreams } = await watch(...chains);
    await reaches(watcher, 1);
    await upstreams[2]?.close();
    for (const chain of chains) chain.addRound([transaction]);
    await reaches(watcher, 2);
    expect(await watcher.find(id, never)).toEqual({ round: 2 });
  });

  it("stands still while two nodes contradict, and reports it", async () => {
    const chains = [chainOf(1), chainOf(1)] as const;
    const { watcher, onError, conflicts } = await watch(...chains);
    await reaches(watcher, 1);
    const failed = new Promise<unknown>((resolve) => onError.mockImplementationOnce(resolve));
    chains[0].addRound([transaction]);
    chains[1].addRound();
    expect(await failed).toMatchObject({ code: "providers_conflict" });
    expect(conflicts.length).toBeGreaterThan(0);
    expect(watcher.latest()).toBe(1);
  });

  it.each([
    ["another network", encodeMsgpack(structMap({ block: structMap({ rnd: 2, gh: new Uint8Array(32).fill(9) }) }))],
    ["another round", blockOf(3, [])],
    ["no block", new Uint8Array([0x80])],
  ])("does not count a block of %s", async (_, block) => {
    const chain = chainOf(1);
    const { watcher, onError } = await watch(chain);
    await reaches(watcher, 1);
    const failed = new Promise<unknown>((resolve) => onError.mockImplementationOnce(resolve));
    chain.addRound([transaction], block);
    expect(await failed).toMatchObject({ code: "providers_unavailable" });
    expect(watcher.latest()).toBe(1);
    chain.blocks.set(2, blockOf(2, [transaction]));
    await reaches(watcher, 2);
    expect(await watcher.find(id, never)).toEqual({ round: 2 });
  });

  it("begins anew at the present round after a gap longer than its memory", async () => {
    const chain = chainOf(2);
    const { watcher, onError, upstreams } = await watch(chain);
    await reaches(watcher, 2);
    const [upstream] = upstreams;
    if (!upstream) throw new Error("no upstream");
    const answer = upstream.handler;
    const failed = new Promise<void>((resolve) => onError.mockImplementationOnce(() => resolve()));
    upstream.handler = (_, response) => response.socket?.destroy();
    chain.addRound();
    await failed;
    chain.latest = 5_000;
    chain.addRound();
    upstream.handler = answer;
    expect(await watcher.next(never)).toBe(5_001);
  });

  it("ends waits with the caller's reason, or when it stops", async () => {
    const { watcher } = await watch(chainOf(1));
    await reaches(watcher, 1);
    const caller = new AbortController();
    const window = { firstValid: 1, lastValid: 101 };
    const waits = [watcher.next(caller.signal), watcher.settled(id, window, caller.signal)];
    caller.abort(new Error("gone"));
    for (const wait of waits) await expect(wait).rejects.toThrow("gone");

    const stopped = watcher.settled(id, window, never);
    stopped.catch(() => {});
    await watcher.stop();
    await expect(stopped).rejects.toThrow("stopped");
    await expect(watcher.next(never)).rejects.toThrow("stopped");
  });
});

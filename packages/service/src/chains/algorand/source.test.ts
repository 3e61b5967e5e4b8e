import { algorandCaip2, encodeMsgpack, getBytes, getMap, type MsgpackMap, splitBlock } from "@attestd/proof/algorand";
import { toBase32, toBase64 } from "@attestd/proof/encoding";
import { afterEach, describe, expect, it } from "vitest";
import { vectors } from "../../../../proof/test/vectors.ts";
import { blockOf, FakeChain, FakeNodes, GENESIS, idOf, payment } from "../../../test/fakes/algorand-providers.ts";
import { parseLosslessJson } from "../../providers/json.ts";
import { innerIdOf } from "./inner.ts";
import { AlgorandSource } from "./source.ts";

const never = new AbortController().signal;
const caip2 = algorandCaip2(GENESIS);
const open: FakeNodes[] = [];
afterEach(async () => {
  for (const nodes of open.splice(0)) await nodes.close();
});

async function sourceOf(chains: FakeChain[], options: { caip2?: string; accept?: string[] } = {}) {
  const { nodes, conflicts } = await start(chains);
  const source = new AlgorandSource({ nodes, caip2, ...options });
  return { source, conflicts, read: (id: string) => source.transaction(id, never) };
}

async function start(chains: FakeChain[]): Promise<FakeNodes> {
  const nodes = await FakeNodes.start(...chains);
  open.push(nodes);
  return nodes;
}

const transaction = payment("the one");
const id = idOf(transaction);

function chainWith(...transactions: MsgpackMap[]): FakeChain {
  const chain = new FakeChain();
  chain.addRound([payment("another"), ...transactions]);
  return chain;
}

describe("AlgorandSource", () => {
  it("reads the exact bytes from the block, genesis restored", async () => {
    const { read } = await sourceOf([chainWith(transaction)]);
    const bytes = encodeMsgpack(transaction);
    const block = expect.objectContaining({ height: 1, time: 0 });
    expect(await read(id)).toEqual({ chain: "algorand", caip2, txnId: id, bytes, level: "finalized", block });
  });

  it("asks only for the block where the round was seen already", async () => {
    const { nodes, upstreams } = await start([chainWith(transaction)]);
    const source = new AlgorandSource({
      nodes,
      caip2,
      locate: async (txnId) => (txnId === id ? { round: 1 } : undefined),
    });
    expect(await source.transaction(id, never)).toMatchObject({
      bytes: encodeMsgpack(transaction),
      block: { height: 1 },
    });
    expect(upstreams[0]?.requests).toEqual(["GET /v2/blocks/1?format=msgpack"]);
  });

  it("asks nothing about a round whose block was read already", async () => {
    const chain = chainWith(transaction);
    const { nodes, upstreams } = await start([chain]);
    const source = new AlgorandSource({
      nodes,
      caip2,
      locate: async () => ({ round: 1 }),
      readBlock: (round) => chain.blocks.get(round),
    });
    const bytes = encodeMsgpack(transaction);
    expect(await source.transaction(id, never)).toMatchObject({ bytes, block: { height: 1 } });
    expect((await source.transactions([id], never)).get(id)).toMatchObject({ bytes });
    expect(upstreams[0]?.requests).toEqual([]);
  });

  it("asks the nodes when the block that was read lacks the transaction, or has the certificate of another", async () => {
    const chain = chainWith(transaction);
    const { nodes, upstreams } = await start([chain]);
    for (const block of [blockOf(1, []), encodeMsgpack(new Map([["block", new Map()]]))]) {
      const source = new AlgorandSource({ nodes, caip2, locate: async () => ({ round: 1 }), readBlock: () => block });
      expect(await source.transaction(id, never)).toMatchObject({ bytes: encodeMsgpack(transaction) });
      expect(upstreams[0]?.requests.splice(0)).toEqual(["GET /v2/blocks/1?format=msgpack"]);
    }
  });

  it("finds no transaction when the nodes lack it", async () => {
    await expect((await sourceOf([chainWith()])).read(id)).rejects.toMatchObject({ code: "source_not_found" });
  });

  it("finds no transaction while it is only in the pool", async () => {
    const chain = chainWith();
    chain.recent.set(id, 0);
    await expect((await sourceOf([chain])).read(id)).rejects.toMatchObject({ code: "source_not_found" });
  });

  it("refuses a look-up that the block itself contradicts, and reports it", async () => {
    const chain = chainWith();
    chain.recent.set(id, 1);
    const { read, conflicts } = await sourceOf([chain]);
    await expect(read(id)).rejects.toMatchObject({ code: "providers_conflict" });
    expect(conflicts).toHaveLength(1);
  });

  it("refuses two nodes whose headers differ, though both blocks hold it", async () => {
    const later = chainWith(transaction);
    later.blocks.set(1, blockOf(1, [payment("another"), transaction], {}, 1_780_000_000));
    const { read, conflicts } = await sourceOf([chainWith(transaction), later]);
    await expect(read(id)).rejects.toMatchObject({ code: "providers_conflict" });
    expect(conflicts).toHaveLength(1);
  });

  it("refuses a block with altered bytes", async () => {
    const chain = chainWith(transaction);
    chain.blocks.set(1, blockOf(1, [payment("the one", { amt: 1 })]));
    await expect((await sourceOf([chain])).read(id)).rejects.toMatchObject({ code: "providers_conflict" });
  });

  it("is unavailable when the node gives another round's block, or data that are no block", async () => {
    for (const block of [blockOf(2, [transaction]), new Uint8Array([0xc1]), new Uint8Array()]) {
      const chain = chainWith(transaction);
      chain.blocks.set(1, block);
      await expect((await sourceOf([chain])).read(id)).rejects.toMatchObject({ code: "providers_unavailable" });
    }
  });

  it("takes the block from the nodes that keep it, where they can agree on it, and from no single one of several", async () => {
    const forgetful = chainWith(transaction);
    forgetful.blocks.clear();
    const kept = [chainWith(transaction), chainWith(transaction)];
    expect(await (await sourceOf([forgetful, ...kept])).read(id)).toMatchObject({ block: { height: 1 } });
    const read = (await sourceOf([forgetful, chainWith(transaction)])).read(id);
    await expect(read).rejects.toMatchObject({ code: "source_not_kept" });
  });

  it("names the root of an inner transaction, which it finds by recomputing ids in the block", async () => {
    const nested = payment("nested");
    const inner = payment("inner", { amt: 5 });
    const effects = (inners: object[]) => ({
      dt: new Map([["itx", inners.map((each) => new Map(Object.entries(each)))]]),
    });
    const call = payment("call");
    const itx = [{ txn: payment("first") }, { txn: inner, ...effects([{ txn: nested }]) }];
    const chain = new FakeChain();
    chain.addRound();
    chain.blocks.set(1, blockOf(1, [call], effects(itx)));

    const innerId = innerIdOf(idOf(call), 1, inner);
    for (const each of [innerId, innerIdOf(innerId, 0, nested)]) {
      chain.indexed.set(each, { id: idOf(call), "confirmed-round": 1 });
      const { read } = await sourceOf([chain]);
      await expect(read(each)).rejects.toMatchObject({
        code: "source_inner_transaction",
        details: { rootId: idOf(call) },
      });
    }
  });

  it("refuses a transaction of another chain unless that is accepted", async () => {
    const other = `algorand:${"x".repeat(32)}`;
    const { read } = await sourceOf([chainWith(transaction)], { caip2: other });
    await expect(read(id)).rejects.toMatchObject({ code: "source_wrong_chain" });
    const accepting = await sourceOf([chainWith(transaction)], { caip2: other, accept: [caip2] });
    expect(await accepting.read(id)).toMatchObject({ caip2 });
  });
});

describe("recorded by an indexer alone", () => {
  const record = (name: string) => {
    return parseLosslessJson(vectors.text(`algorand/indexer-txn/${name}.response`)) as { id: string };
  };
  const chainOf = (name: string) => {
    const chain = new FakeChain();
    Object.assign(chain, { latest: 2_000, indexedUpTo: 2_000 });
    // The fake answers with JSON.stringify, which has no bigint: none of these records needs one.
    chain.indexed.set(record(name).id, record(name));
    return chain;
  };

  it("is rebuilt where no algod keeps the block, and belongs to its own chain or to the configured one", async () => {
    const accept = ["algorand:7iETbAkbHk1hPv6SM7X9_PcKw9uZbBmE"];
    for (const [name, accepted] of [
      ["app_call_2", accept],
      ["payment", []],
    ] as const) {
      const { id } = record(name);
      const { source, read } = await sourceOf([chainOf(name)], { accept: [...accepted] });
      expect(await source.find(id, never)).toMatchObject({ txnId: id, height: 1 });
      // Nobody has its block, which a note states.
      await expect(read(id)).rejects.toMatchObject({ code: "source_not_kept" });
    }
  });

  it("stands in a block whose header is rebuilt as well, where the next round names the hash to which that leads", async () => {
    const { id } = record("payment");
    const block = splitBlock(Buffer.from(vectors.text("algorand/sandnet/v2_algod_GetBlock_header.base64"), "base64"));
    const hash = getBytes(getMap(block.cert ?? new Map(), "prop") ?? new Map(), "dig", 32) ?? new Uint8Array();
    const told = vectors.json("algorand/sandnet/v2_indexer_lookupBlock_header.json");
    const chainWithHeaders = (header: object, next: object) => {
      const chain = chainOf("payment");
      chain.indexed.set(id, { ...record("payment"), "confirmed-round": 768 });
      chain.headers.set(768, header).set(769, next);
      return chain;
    };
    const next = { "previous-block-hash": toBase64(hash) };
    const { read } = await sourceOf([chainWithHeaders(told, next)]);
    expect(await read(id)).toMatchObject({ block: { hash: toBase32(hash), height: 768, time: 1660162763 } });

    const zeros = { "previous-block-hash": toBase64(new Uint8Array(32)) };
    for (const [header, after] of [
      [{ ...told, timestamp: 1660162764 }, next],
      [{ ...told, round: 767 }, next],
      [told, zeros],
      [{}, next],
    ])
      await expect((await sourceOf([chainWithHeaders(header, after)])).read(id)).rejects.toMatchObject({
        code: "source_not_kept",
      });
  });

  it("is refused for good where no algod keeps the block and the JSON does not lead to the id", async () => {
    const chain = chainOf("payment");
    const { id } = record("payment");
    chain.indexed.set(id, { ...record("payment"), fee: 1 });
    const { read } = await sourceOf([chain]);
    await expect(read(id)).rejects.toMatchObject({ code: "source_not_kept" });
    // The node that keeps old blocks may be the one that is away.
    const { nodes, upstreams } = await start([chain, chain]);
    await upstreams[1]?.close();
    await expect(new AlgorandSource({ nodes, caip2 }).transaction(id, never)).rejects.toMatchObject({
      code: "providers_unavailable",
    });
  });
});

describe("recorded blocks", () => {
  it.each(["sandnet-108-heartbeat", "sandnet-619-stpf"])("%s gives the bytes of its transaction", async (name) => {
    const block = vectors.bytes(`replay/algorand/blocks/${name}.msgpack`);
    const { header, transactions, cert } = splitBlock(block);
    const certified = getBytes(getMap(cert ?? new Map(), "prop") ?? new Map(), "dig", 32) ?? new Uint8Array();
    const round = Number(header.get("rnd"));
    const stripped = getMap(transactions[0] ?? new Map(), "txn") ?? new Map();
    const genesis = header.get("gh") as Uint8Array;
    const whole = new Map(stripped).set("gh", genesis);
    if (transactions[0]?.get("hgi") === true) whole.set("gen", header.get("gen") ?? "");
    const chain = new FakeChain();
    Object.assign(chain, { latest: 5_000, indexedUpTo: 5_000 });
    chain.blocks.set(round, block);
    chain.indexed.set(idOf(whole), { id: idOf(whole), "confirmed-round": round });
    const { read } = await sourceOf([chain], { accept: [algorandCaip2(genesis)] });
    const { bytes, block: stated } = await read(idOf(whole));
    expect(toBase64(bytes)).toBe(toBase64(encodeMsgpack(whole)));
    expect(stated).toEqual({ hash: toBase32(certified), height: round, time: Number(header.get("ts")) });
  });
});

import {
  algorandCaip2,
  decodeMsgpackMap,
  encodeMsgpack,
  type MsgpackMap,
  restoreTransaction,
  splitBlock,
  structMap,
  txid,
} from "@attestd/proof/algorand";
import { afterEach, describe, expect, it } from "vitest";
import { recordedBlock, recordedTransactions } from "../../../test/algorand-recordings.ts";
import { blockOf, FakeChain, FakeNodes, GENESIS, idOf, payment } from "../../../test/fakes/algorand-providers.ts";
import { AlgorandSource } from "./source.ts";

const never = new AbortController().signal;
const open: FakeNodes[] = [];
afterEach(async () => {
  for (const nodes of open.splice(0)) await nodes.close();
});

async function sourceOf(chains: readonly FakeChain[], caip2 = algorandCaip2(GENESIS)) {
  const nodes = await FakeNodes.start(...chains);
  open.push(nodes);
  const source = new AlgorandSource({ nodes: nodes.nodes, caip2 });
  const counting = async <T>(work: () => Promise<T>) => {
    for (const { requests } of nodes.upstreams) requests.length = 0;
    const found = await work();
    return { found, requests: nodes.upstreams.reduce((sum, { requests }) => sum + requests.length, 0) };
  };
  return {
    source,
    conflicts: nodes.conflicts,
    read: (ids: readonly string[]) => counting(() => source.transactions(ids, never)),
    readSingly: (ids: readonly string[]) =>
      counting(async () => {
        const all = ids.map((id) => source.transaction(id, never).catch((error: unknown) => error));
        return new Map((await Promise.all(all)).map((found, index) => [ids[index], found]));
      }),
  };
}

/** Blocks of a real node (go-algorand v5.0.0) with every kind of transaction. */
describe("several transactions of Algorand", () => {
  const recorded = recordedTransactions();
  const ids = [...new Set(recorded.map(({ txid: id }) => id))];

  function recordedChain(change: (block: Uint8Array) => Uint8Array = (block) => block): FakeChain {
    const chain = Object.assign(new FakeChain(), { latest: 100_000, indexedUpTo: 100_000 });
    for (const { txid: id, round } of recorded) {
      chain.indexed.set(id, { id, "confirmed-round": round });
      chain.blocks.set(round, change(recordedBlock(round)));
    }
    return chain;
  }
  const caip2 = "algorand:ekIDYRawz1wXUrUbmwqm24YRNU6KFFKF";

  it("are each what one alone is, by one look-up and one block for all that stand in a round", async () => {
    const { read, readSingly, conflicts } = await sourceOf([recordedChain()], caip2);
    const missing = idOf(payment("never sent"));
    const alone = await readSingly([...ids, missing]);
    const together = await read([...ids, missing]);
    expect(together.found).toEqual(alone.found);
    expect(together.found.get(missing)).toMatchObject({ code: "source_not_found" });
    expect(conflicts).toEqual([]);
    expect(together.requests).toBeLessThan(alone.requests);

    const rounds = Map.groupBy(recorded, ({ round }) => round);
    const [crowded = []] = [...rounds.values()].toSorted((a, b) => b.length - a.length);
    const shared = [...new Set(crowded.map(({ txid: id }) => id))];
    // Status, pending, indexer, block.
    expect((await read(shared)).requests).toBe(4);
  });

  it("take nothing else from a block whose transactions are not those of its header", async () => {
    const made = structMap({ type: "pay", snd: new Uint8Array(32).fill(1), fee: 1000, fv: 1, lv: 9 });
    const [{ round, txid: real }] = recorded as [(typeof recorded)[0]];
    const chain = recordedChain();
    const answer = decodeMsgpackMap(recordedBlock(round));
    const block = answer.get("block") as MsgpackMap;
    block.set("txns", [...(block.get("txns") as MsgpackMap[]), new Map([["txn", made]])]);
    chain.blocks.set(round, encodeMsgpack(answer));
    const { transactions, header } = splitBlock(encodeMsgpack(answer));
    const [last] = transactions.slice(-1);
    const forged = txid(encodeMsgpack(restoreTransaction(last ?? new Map(), header)));
    const { found } = await (await sourceOf([chain], caip2)).read([real, forged]);
    expect(found.get(real)).toMatchObject({ txnId: real, block: { height: round } });
    expect(found.get(forged)).toMatchObject({ code: "source_not_found" });
  });
});

describe("several transactions of Algorand, by hand-made nodes", () => {
  const payments = Array.from({ length: 40 }, (_, n) => payment(`payment ${n}`));
  const ids = payments.map(idOf);

  function chainOf(...rounds: (readonly MsgpackMap[])[]): FakeChain {
    const chain = new FakeChain();
    for (const transactions of rounds) chain.addRound(transactions);
    return chain;
  }

  it("never take more requests than each alone, where a block's transactions do not lead to its header", async () => {
    // A hand-made block has no commitments.
    const { read, readSingly } = await sourceOf([chainOf(payments.slice(0, 20), payments.slice(20))]);
    const alone = await readSingly(ids);
    const together = await read(ids);
    expect(together.found).toEqual(alone.found);
    expect(together.requests).toBeLessThanOrEqual(alone.requests);
  });

  it("are refused where two nodes disagree on the block of one", async () => {
    const other = chainOf(payments);
    other.blocks.set(1, blockOf(1, payments, {}, 1_780_000_000));
    const { read, conflicts } = await sourceOf([chainOf(payments), other]);
    await expect(read(ids)).rejects.toMatchObject({ code: "providers_conflict" });
    expect(conflicts.length).toBeGreaterThan(0);
  });

  it("are refused where a block lacks one that the look-up found there", async () => {
    const chain = chainOf(payments);
    chain.recent.set(idOf(payment("made up")), 1);
    const { read, conflicts } = await sourceOf([chain]);
    await expect(read([...ids, idOf(payment("made up"))])).rejects.toMatchObject({ code: "providers_conflict" });
    expect(conflicts).toHaveLength(1);
  });

  it("are found by nodes that are caught up, and absent only where those are", async () => {
    const lagging = chainOf(payments.slice(0, 20));
    const whole = chainOf(payments.slice(0, 20), payments.slice(20));
    const other = chainOf(payments.slice(0, 20), payments.slice(20));
    const { read } = await sourceOf([whole, lagging, other]);
    const missing = idOf(payment("never sent"));
    const { found } = await read([...ids, missing]);
    expect([...found.values()].filter((one) => "bytes" in one)).toHaveLength(40);
    expect(found.get(missing)).toMatchObject({ code: "source_not_found" });
    whole.catchupTime = 1;
    lagging.catchupTime = 1;
    await expect(read([...ids, missing])).rejects.toMatchObject({ code: "providers_unavailable" });
  });
});

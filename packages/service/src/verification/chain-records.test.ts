import { algorandCaip2, encodeMsgpack } from "@attestd/proof/algorand";
import { afterEach, describe, expect, test } from "vitest";
import { FakeChain, FakeNodes, GENESIS, idOf, payment } from "../../test/fakes/algorand-providers.ts";
import { FakeBase, startRpcs } from "../../test/fakes/base-providers.ts";
import type { Upstream } from "../../test/fakes/providers.ts";
import { AlgorandSource } from "../chains/algorand/source.ts";
import { BaseSource } from "../chains/base/source.ts";
import type { ChainName, SourceChain } from "../chains/chain.ts";
import { systemClock } from "../lib/clock.ts";
import { createBulkhead } from "../lib/workers/bulkhead.ts";
import { createChainRecords } from "./chain-records.ts";

const caip2 = algorandCaip2(GENESIS);
const upstreams: Upstream[] = [];
afterEach(async () => {
  await Promise.all(upstreams.splice(0).map((upstream) => upstream.close()));
});

/** Opens records over one Algorand node and one Base node. */
async function recordsOver(chain: FakeChain, base = new FakeBase()) {
  const fakes = await FakeNodes.start(chain);
  const { rpcs, upstreams: rpcUpstreams } = await startRpcs(base);
  upstreams.push(...fakes.upstreams, ...rpcUpstreams);
  const rules = { onConflict: () => undefined };
  const algorand = new AlgorandSource({ nodes: fakes.nodes, caip2 });
  const chains = new Map<ChainName, SourceChain>([
    ["algorand", algorand],
    ["base", new BaseSource({ nodes: { rpcs, rules } })],
  ]);
  const bulkhead = createBulkhead({ maxActive: 4, maxWaiting: 64, perSecond: 1_000, clock: systemClock });
  const records = createChainRecords({ chains, ledger: algorand, bulkhead, deadlineMs: 10_000 });
  const [node] = fakes.upstreams as [Upstream];
  return { records, node, base };
}

const transaction = payment("the one");
const id = idOf(transaction);

describe("the look-up of a bundle's records", () => {
  test("takes three requests for a recent transaction or attestation, two for a header, and none the second time", async () => {
    const chain = new FakeChain();
    chain.addRound([transaction]);
    const { records, node } = await recordsOver(chain);
    const asked = async (ask: () => Promise<unknown>) => {
      const before = node.requests.length;
      await ask();
      return node.requests.length - before;
    };
    const recent = [
      () => records.transaction("algorand", id),
      () => records.attestation(id),
      () => records.header("algorand", 1),
    ];
    expect(await asked(recent[0] as never)).toBe(3);
    expect(await asked(recent[1] as never)).toBe(3);
    expect(await asked(recent[2] as never)).toBe(2);
    expect(await records.transaction("algorand", id)).toEqual({
      bytes: encodeMsgpack(transaction),
      block: expect.objectContaining({ height: 1, time: 0 }),
    });
    expect(await asked(recent[0] as never)).toBe(0);
    expect(await asked(recent[1] as never)).toBe(0);
    expect(await asked(recent[2] as never)).toBe(0);
  });

  test("is shared by simultaneous callers", async () => {
    const chain = new FakeChain();
    chain.addRound([transaction]);
    const { records, node } = await recordsOver(chain);
    const found = await Promise.all(Array.from({ length: 100 }, () => records.transaction("algorand", id)));
    expect(new Set(found).size).toBe(1);
    expect(node.requests).toHaveLength(3);
  });

  test("is repeated if the record was absent or not final, or the look-up failed", async () => {
    const chain = new FakeChain();
    chain.addRound();
    const hash = `0x${"ab".repeat(32)}`;
    const base = new FakeBase();
    const { records, node } = await recordsOver(chain, base);
    expect(await records.transaction("algorand", id)).toBeUndefined();
    const { handler } = node;
    node.handler = (_, response) => void response.writeHead(500).end();
    await expect(records.transaction("algorand", id)).rejects.toMatchObject({ code: "providers_unavailable" });
    node.handler = handler;
    chain.addRound([transaction]);
    expect(await records.transaction("algorand", id)).toMatchObject({ block: { height: 2 } });

    // A record above the finalized head may still be replaced.
    base.include(95, { hash });
    for (const _ of [1, 2]) await records.transaction("base", hash).catch(() => undefined);
    expect(base.calls.filter((method) => method === "eth_getTransactionReceipt")).toHaveLength(2);
  });
});

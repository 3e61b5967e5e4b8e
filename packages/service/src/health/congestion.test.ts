import { afterAll, beforeAll, expect, test } from "vitest";
import { FakeChain, FakeNodes } from "../../test/fakes/algorand-providers.ts";
import { watchCongestion } from "./congestion.ts";

const never = new AbortController().signal;
const chain = new FakeChain();
let nodes: FakeNodes;
const CONGESTED = { state: "degraded", reason: expect.stringContaining("asks for 7 microAlgos a byte") };
beforeAll(async () => {
  nodes = await FakeNodes.start(chain);
});
afterAll(() => nodes.close());

test("a congested pool is said until it is not, also while no node answers", async () => {
  const watch = watchCongestion(nodes.nodes);
  await watch.refresh(never);
  expect(watch.status()).toEqual({ state: "ok" });
  chain.feePerByte = 7;
  await watch.refresh(never);
  expect(watch.status()).toEqual(CONGESTED);
  const [upstream] = nodes.upstreams;
  if (upstream) upstream.handler = (_, response) => response.writeHead(503).end();
  await watch.refresh(never);
  expect(watch.status()).toEqual(CONGESTED);
  if (upstream) upstream.handler = chain.handler;
  chain.feePerByte = 0;
  await watch.refresh(never);
  expect(watch.status()).toEqual({ state: "ok" });
});

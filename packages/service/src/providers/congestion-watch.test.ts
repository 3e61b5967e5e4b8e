import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { FakeChain, FakeNodes } from "../../test/fakes/algorand-providers.ts";
import { watchCongestion } from "./congestion-watch.ts";

const never = new AbortController().signal;
const chain = new FakeChain();
let nodes: FakeNodes;
beforeAll(async () => {
  nodes = await FakeNodes.start(chain);
});
afterAll(() => nodes.close());

test("a congested pool is a doubt until it is not, logged once each time, also while no node answers", async () => {
  const log = { warn: vi.fn(), info: vi.fn() };
  const watch = watchCongestion(nodes.nodes.algods, log);
  await watch.refresh(never);
  expect(watch.doubt()).toBeUndefined();
  chain.feePerByte = 7;
  await watch.refresh(never);
  await watch.refresh(never);
  expect(watch.doubt()).toContain("asks for 7 microAlgos a byte");
  const [upstream] = nodes.upstreams;
  if (upstream) upstream.handler = (_, response) => response.writeHead(503).end();
  await watch.refresh(never);
  expect(watch.doubt()).toContain("asks for 7 microAlgos a byte");
  if (upstream) upstream.handler = chain.handler;
  chain.feePerByte = 0;
  await watch.refresh(never);
  expect(watch.doubt()).toBeUndefined();
  expect([log.warn.mock.calls.length, log.info.mock.calls.length]).toEqual([1, 1]);
});

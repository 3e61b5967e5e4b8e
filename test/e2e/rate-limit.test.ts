import { afterAll, beforeAll, expect, test } from "vitest";
import { type Deployment, post, startDeployment } from "./deployment.ts";

let deployment: Deployment;
beforeAll(async () => {
  // The contract's check reads one document.
  deployment = await startDeployment({ networks: [] }, { rate_limits: { default: 3, paid: 1 } });
});
afterAll(() => deployment.close());

test("each class has its own limit, stated in every answer as the contract describes it", async () => {
  const { url } = deployment;
  const statuses = async (answers: Promise<{ status: number; headers: Headers }>[]) =>
    (await Promise.all(answers)).map(({ status, headers }) => [status, headers.get("ratelimit-policy")]);
  const paid = '"paid";q=1;w=60';
  const documents = '"documents";q=3;w=60';
  const body = { txid: deployment.sandbox.sampleTransactions.algorand };
  expect(await statuses([post(`${url}/attest`, body)])).toEqual([[402, paid]]);
  expect(await statuses([post(`${url}/attest-block`, body)])).toEqual([[429, paid]]);
  expect(await statuses([post(`${url}/verify`, {})])).toEqual([[400, '"verify";q=3;w=60']]);
  expect(await statuses([post(`${url}/a2a`, {})])).toEqual([[200, '"agents";q=3;w=60']]);
  expect(await statuses([fetch(`${url}/llms.txt`)])).toEqual([[200, documents]]);
  expect(await statuses([fetch(`${url}/nothing`)])).toEqual([[404, documents]]);

  const refused = await fetch(`${url}/llms.txt`);
  expect([refused.status, refused.headers.get("ratelimit")]).toEqual([
    429,
    expect.stringMatching(/^"documents";r=0;t=([1-5]?\d|60)$/),
  ]);
  expect(refused.headers.get("retry-after")).toBe(/t=(\d+)/.exec(refused.headers.get("ratelimit") ?? "")?.[1]);
  expect(refused.headers.get("access-control-expose-headers")).toContain("RateLimit");
  expect(await refused.json()).toMatchObject({ code: "too_many_requests", requestId: expect.any(String) });

  for (let n = 0; n < 5; n++) expect(await statuses([fetch(`${url}/ready`)])).toEqual([[200, null]]);
  expect(await statuses([fetch(`${url}/attest`, { method: "OPTIONS" })])).toEqual([[204, null]]);
});

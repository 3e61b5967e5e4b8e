import { afterEach, expect, it } from "vitest";
import { testAttestor, testBundle, testHistory } from "../../../../test/bundles/bundles.ts";
import { createVerificationPool, type VerificationPool } from "./worker-pool.ts";

const attestor = testAttestor();
const bundle = new TextEncoder().encode(JSON.stringify(testBundle({ attestor })));
const ours = testHistory([{ attestor, fromRound: 1 }]);

const open: VerificationPool[] = [];
afterEach(async () => {
  for (const pool of open.splice(0)) await pool.close();
});

function start(maxWorkers: number, history = () => ours): VerificationPool {
  const pool = createVerificationPool(maxWorkers, history);
  open.push(pool);
  return pool;
}

it("uses the keys that are known at the time of the call", async () => {
  let history = testHistory([{ attestor: testAttestor("another"), fromRound: 1 }]);
  const { verify } = start(2, () => history);
  const verified = async () => {
    const results = await Promise.all(Array.from({ length: 40 }, () => verify(bundle, ["transaction-attestation"])));
    return [...new Set(results.map((one) => "report" in one && one.report.verified))];
  };
  expect(await verified()).toEqual([false]);
  history = ours;
  expect(await verified()).toEqual([true]);
  history = testHistory([{ attestor, fromRound: 1, revokedRound: 2 }]);
  expect(await verified()).toEqual([false]);
});

it("returns why a text is not JSON", async () => {
  const { verify } = start(1);
  expect(await verify(bundle.subarray(1), ["transaction-attestation"])).toEqual({
    notJson: expect.stringMatching(/^line 1: /),
  });
});

it("refuses bundles that would exceed the waiting bytes, until there is room", async () => {
  const { verify } = start(1);
  const large = new Uint8Array(2 ** 21);
  const asked = await Promise.allSettled(Array.from({ length: 40 }, () => verify(large, ["block-attestation"])));
  const putOff = asked.flatMap((one) => (one.status === "rejected" ? [one.reason] : []));
  expect(putOff).toHaveLength(40 - 32);
  for (const problem of putOff) expect(problem).toMatchObject({ code: "over_capacity", retryAfter: 1 });
  expect(await verify(bundle, ["transaction-attestation"])).toMatchObject({ report: { verified: true } });
});

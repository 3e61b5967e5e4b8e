import { afterEach, expect, it } from "vitest";
import { testAttestor, testBundle, testHistory } from "../../../../test/bundles/bundles.ts";
import { createExaminer, type Examiner } from "./worker-pool.ts";

const attestor = testAttestor();
const bundle = new TextEncoder().encode(JSON.stringify(testBundle({ attestor })));
const ours = testHistory([{ attestor, fromRound: 1 }]);

const open: Examiner[] = [];
afterEach(async () => {
  for (const examiner of open.splice(0)) await examiner.close();
});

function start(maxWorkers: number, history = () => ours): Examiner {
  const examiner = createExaminer(maxWorkers, history);
  open.push(examiner);
  return examiner;
}

it("goes by the keys that are known when it is asked", async () => {
  let history = testHistory([{ attestor: testAttestor("another"), fromRound: 1 }]);
  const { examine } = start(2, () => history);
  const verified = async () => {
    const examined = await Promise.all(Array.from({ length: 40 }, () => examine(bundle, "transaction-attestation")));
    return [...new Set(examined.map((one) => "report" in one && one.report.verified))];
  };
  expect(await verified()).toEqual([false]);
  history = ours;
  expect(await verified()).toEqual([true]);
  history = testHistory([{ attestor, fromRound: 1, revokedRound: 2 }]);
  expect(await verified()).toEqual([false]);
});

it("says why a text is no JSON", async () => {
  const { examine } = start(1);
  expect(await examine(bundle.subarray(1), "transaction-attestation")).toEqual({
    notJson: expect.stringMatching(/^line 1: /),
  });
});

it("puts off what would fill the memory, and takes it again when there is room", async () => {
  const { examine } = start(1);
  const large = new Uint8Array(2 ** 21);
  const asked = await Promise.allSettled(Array.from({ length: 40 }, () => examine(large, "block-attestation")));
  const putOff = asked.flatMap((one) => (one.status === "rejected" ? [one.reason] : []));
  expect(putOff).toHaveLength(40 - 32);
  for (const problem of putOff) expect(problem).toMatchObject({ code: "over_capacity", retryAfter: 1 });
  expect(await examine(bundle, "transaction-attestation")).toMatchObject({ report: { verified: true } });
});

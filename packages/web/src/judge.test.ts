import { expect, test } from "vitest";
import { testHistory } from "../../../test/bundles/bundles.ts";
import { testTakeover } from "../../../test/bundles/takeover.ts";
import { judge } from "./judge.ts";

const dropped = (value: unknown) => new TextEncoder().encode(JSON.stringify(value));

test("the page rejects a key list made with a stolen seed but without the attestor's account", async () => {
  const { history, bundle } = testTakeover();
  const judged = await judge(dropped(history), { historyAge: 0 });
  expect(judged).toMatchObject({ kind: "unreadable", why: expect.stringContaining("is not the first key's account") });
  expect(await judge(dropped(testHistory()), { historyAge: 0 })).toMatchObject({ kind: "keys" });
  const report = await judge(dropped(bundle), { history: testHistory(), historyAge: 0 });
  expect(report).toMatchObject({ kind: "judged", report: { verified: false, attestor: { status: "unknown" } } });
});

import { expect, test } from "vitest";
import { signerLog } from "../../signers/socket/main.ts";
import { within } from "./context.ts";
import { openLog } from "./log.ts";

test.each([
  ["of the service and of an operator's commands", openLog.bind(undefined, "trace")],
  ["of the signer", signerLog],
])("the log %s names levels, and the request and call that it is written for", (_, open) => {
  const lines: string[] = [];
  const log = open({ write: (line) => void lines.push(line) });
  within({ requestId: "r-1", call: { key: "algorand:genesis/PAYMENT", stages: {} } }, () => log.error("held up"));
  log.info({ req: { headers: { authorization: "secret" } } }, "a request");
  const [first, second] = lines.map((line) => JSON.parse(line));
  expect(first).toMatchObject({ level: "error", msg: "held up", requestId: "r-1", key: "algorand:genesis/PAYMENT" });
  expect(second).toMatchObject({ level: "info", msg: "a request", time: expect.any(Number) });
  expect(lines.join()).not.toContain("secret");
});

import { startSandbox } from "@attestd/sandbox";
import { expect, test } from "vitest";
import { startServiceProcess } from "../../packages/attestd/src/commands/sandbox/service-process.ts";
import { sandboxFolder } from "../../packages/attestd/src/trust/sandbox-folder.ts";
import { sandboxSettings } from "../helpers/sandbox-settings.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";
import { pay, sign } from "./deployment.ts";
import { railsOf } from "./rails.ts";

const SHIFTED = new URL("../helpers/shifted-clock.ts", import.meta.url).href;

test("a service whose clock is wrong by minutes sells nothing, and says by how many seconds; one whose clock is right sells", async () => {
  await using folder = await temporaryFolder();
  await using starting = new AsyncDisposableStack();
  const sandbox = await startSandbox();
  starting.defer(() => sandbox.close());
  const paths = sandboxFolder(folder.path);
  await sandboxSettings(sandbox, paths, { log_level: "silent" });
  const { base } = await railsOf(sandbox);
  const body = { txid: sandbox.sampleTransactions.base };

  /** What `/ready` says once the clock is judged, and what somebody gets who pays. */
  async function sells(aheadMs: number) {
    const { PATH = "" } = process.env;
    const shifted = { NODE_OPTIONS: `--import ${SHIFTED}`, CLOCK_AHEAD_MS: `${aheadMs}` };
    const ends = AbortSignal.timeout(120_000);
    await using service = await startServiceProcess(paths.settings, { PATH, HOME: folder.path, ...shifted }, ends, []);
    const ready = async () => {
      const answer = await fetch(`${service.url}/ready`);
      const { reasons } = (await answer.json()) as { reasons: string[] };
      return { status: answer.status, reasons };
    };
    await expect.poll(async () => (await ready()).status, { timeout: 30_000 }).toBe(aheadMs === 0 ? 200 : 503);
    const payment = await sign(`${service.url}/attest`, body, base.client);
    const { status, json } = await pay(`${service.url}/attest`, body, payment);
    return { ...(await ready()), paid: [status, json.code] };
  }

  expect(await sells(0)).toMatchObject({ status: 200, reasons: [], paid: [200, undefined] });
  expect(await sells(900_000)).toMatchObject({
    reasons: [
      expect.stringMatching(
        /^clock_wrong: this host's clock is (89\d|90\d) s ahead of \d of \d others\. Set it by NTP\.$/,
      ),
    ],
    paid: [503, "clock_wrong"],
  });
  expect(await sells(-900_000)).toMatchObject({
    reasons: [
      expect.stringMatching(
        /^clock_wrong: this host's clock is (89\d|90\d) s behind \d of \d others\. Set it by NTP\.$/,
      ),
    ],
    paid: [503, "clock_wrong"],
  });
});

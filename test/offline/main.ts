import { copyFile, readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { attestdProcess, start } from "../helpers/command.ts";
import { judgeOffline } from "../helpers/offline-judges.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";
import { openPage, startBrowser } from "../web/browser.ts";

/*
 * npm run offline
 *
 * From `npm start` to a record that nobody has to vouch for: starts a sandbox, buys an attestation, waits for the state proof of
 * its round, collects the evidence, switches service and node off, and has it judged by the command, by the verifiers in
 * JavaScript and Go, and by the page in Chromium without a network. Ends with 0 if all four of them say that it is recorded.
 * `npm run test:long` does the same with networks in its own process (test/e2e/evidence.test.ts).
 */

const INTERVAL = 16;
const LIMIT_MS = 180_000;
const files = { bundle: "b.json", keys: "keys.json", evidence: "b.evidence.json", checkpoint: "c.json" };

await using folder = await temporaryFolder();
const cwd = folder.path;
const began = performance.now();
const say = (what: string) => console.log(`${((performance.now() - began) / 1000).toFixed(1).padStart(6)} s  ${what}`);
const browser = await startBrowser();
const sandbox = start(["sandbox", "--port", "0"], { cwd });
try {
  const { serviceUrl, algodUrl, sampleTransactions } = await described();
  say(`npm start serves ${serviceUrl}`);
  const page = browser && (await openPage(await browser.newContext({ serviceWorkers: "block" }), serviceUrl));
  // Participants make their keys first: rounds before that are attested by nobody.
  await until(() => isAttested(algodUrl));
  say("state proofs are made");
  await attestd("attest", sampleTransactions.algorand, "--out", files.bundle);
  say("bought");
  const collected = await attestd("evidence", files.bundle, "--wait", "120", "--save-checkpoint", files.checkpoint);
  say(collected.split("\n")[0] ?? "");
  await copyFile(join(cwd, ".attestd/keys.json"), join(cwd, files.keys));
  sandbox.kill("SIGTERM");
  await sandbox.ended;
  say("everything is switched off");
  const judgements = await judgeOffline(cwd, files, page);
  for (const { judge, isRecorded } of judgements) say(`${isRecorded ? "recorded by stake" : "NOT recorded"}: ${judge}`);
  for (const { says } of judgements.filter(({ isRecorded }) => !isRecorded)) console.log(says);
  if (judgements.length < 4) say("some of the four judges cannot run here");
  process.exitCode = judgements.length === 4 && judgements.every(({ isRecorded }) => isRecorded) ? 0 : 1;
} finally {
  sandbox.kill("SIGTERM");
  await sandbox.ended;
  await browser?.close();
}

async function attestd(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await attestdProcess(args, { cwd });
  if (code !== 0) throw new Error(`attestd ${args[0]} ended with ${code}: ${stderr}`);
  return stdout;
}

/** What `npm start` writes when everything is up. */
async function described(): Promise<{
  serviceUrl: string;
  algodUrl: string;
  sampleTransactions: { algorand: string };
}> {
  const read = () => readFile(join(cwd, ".attestd/sandbox.json"), "utf8").catch(() => undefined);
  await until(async () => (await read()) !== undefined);
  return JSON.parse((await read()) ?? "");
}

/** Whether a state proof attests the rounds before the last interval. */
async function isAttested(algodUrl: string): Promise<boolean> {
  const { "last-round": last } = (await (await fetch(`${algodUrl}/v2/status`)).json()) as { "last-round": number };
  const { status } = await fetch(`${algodUrl}/v2/stateproofs/${Math.max(1, last - 2 * INTERVAL)}`);
  return status === 200;
}

async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) {
    if (performance.now() - began > LIMIT_MS || sandbox.exitCode !== null)
      throw new Error(
        `nothing after ${LIMIT_MS / 1000} s: ${sandbox.exitCode === null ? "" : (await sandbox.ended).stderr}`,
      );
    await wait(500);
  }
}

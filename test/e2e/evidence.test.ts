import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { attestd } from "../helpers/command.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";
import { algorandClient, type Deployment, pay, sign, startDeployment } from "./deployment.ts";

/*
 * The whole way without us and without a node: buy, collect the evidence from a node, stop everything, verify. Its judge is
 * docs/verify/javascript, which shares no code with attestd.
 */

const VERIFIER = new URL("../../docs/verify/javascript/verify.mjs", import.meta.url).pathname;
const INTERVAL = 16;

let deployment: Deployment;
let folder: Awaited<ReturnType<typeof temporaryFolder>>;
beforeAll(async () => {
  folder = await temporaryFolder();
  deployment = await startDeployment({ networks: [], roundMs: 100, stateProofInterval: INTERVAL });
  const { sandbox, url } = deployment;
  const keys = await fetch(`${url}/.well-known/attestor-keys.json`);
  await writeFile(join(folder.path, "keys.json"), await keys.bytes());
  await buy("early.json");
  // Voters are named by the first header after the participants have keys, which take seconds to make.
  const { ledger } = sandbox.algorand;
  while (!ledger.stateProofs?.of(ledger.round - 2 * INTERVAL))
    await ledger.reached(ledger.round + 1, AbortSignal.timeout(60_000));
  await buy("b.json");
});
afterAll(async () => {
  await deployment?.sandbox.close();
  await folder?.[Symbol.asyncDispose]();
});

async function buy(name: string): Promise<void> {
  const { sandbox, url } = deployment;
  const body = { txid: sandbox.sampleTransactions.algorand };
  const answer = await pay(`${url}/attest`, body, await sign(`${url}/attest`, body, algorandClient(sandbox)));
  expect(answer.status, answer.text).toBe(200);
  await writeFile(join(folder.path, name), answer.text);
}

const run = (...args: string[]) => attestd(args, { cwd: folder.path });
const collect = (file: string, ...more: string[]) =>
  run("evidence", file, "--algod", deployment.sandbox.algodUrl, ...more);

describe("evidence", () => {
  test("is refused with the reason where no state proof will ever attest the round", async () => {
    const { code, stderr } = await collect("early.json");
    expect(stderr).toMatch(/no state proof attests round \d+, or ever will/);
    expect(code).toBe(4);
  });

  test("verifies with nothing running: by the command, and by a program that shares no code with it", async () => {
    const collected = await collect("b.json", "--wait", "60", "--save-checkpoint", "c.json");
    expect(collected.stdout).toContain("Saved b.evidence.json");
    expect(collected.stdout).toMatch(/stake of more than 2,9\d\d,\d+(\.\d+)? ALGO signed for the round/);
    expect(collected.code).toBe(0);
    expect((await collect("b.json")).stderr).toContain("b.evidence.json is there already");
    await deployment.close();

    const offline = ["b.json", "--keys", "keys.json", "--evidence", "b.evidence.json", "--checkpoint", "c.json"];
    const verified = await run("verify", ...offline);
    expect(verified.stdout).toContain("ALGO signed for the round");
    expect(verified.code).toBe(0);
    const path = (name: string) => join(folder.path, name);
    const args = ["--evidence", path("b.evidence.json"), path("c.json"), path("b.json"), path("keys.json")];
    const { stdout } = await promisify(execFile)(process.execPath, [VERIFIER, ...args]);
    for (const check of ["schema", "inclusion", "stateProof"]) expect(stdout).toContain(`pass evidence.${check}`);

    // Of another checkpoint's voters nothing is believed.
    const checkpoint = JSON.parse(await readFile(path("c.json"), "utf8"));
    await writeFile(path("c.json"), JSON.stringify({ ...checkpoint, lnProvenWeight: checkpoint.lnProvenWeight + 1 }));
    expect((await run("verify", ...offline)).stdout).toContain("no state proof on a trusted --checkpoint");
  });
});

import { hash } from "node:crypto";
import { copyFile, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseKeyHistory, verify } from "@attestd/proof";
import {
  checkpointAt,
  decodeCheckpointTable,
  parseEvidence,
  readPublishedCheckpoints,
  withEvidence,
} from "@attestd/proof/evidence";
import { canonicalBytes, type JsonObject } from "@attestd/proof/json";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { settingsFileOf } from "../../packages/service/test/settings.ts";
import { attestd } from "../helpers/command.ts";
import { judgeOffline } from "../helpers/offline-judges.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";
import { freshPage, openPage, startBrowser } from "../web/browser.ts";
import { algorandClient, type Deployment, payUntilAnswered, sign, startDeployment } from "./deployment.ts";
import { algorandSources } from "./many-sources.ts";

/*
 * The whole way without us and without a node: buy, collect the evidence from a node, stop everything, verify. Among its judges
 * are programs that share no code with attestd.
 */

const INTERVAL = 16;
/** The first headers name no voters: what they record before will never be attested. */
const FIRST_VOTERS = 20 * INTERVAL;

let deployment: Deployment;
let early: string;
let late: string;
let folder: Awaited<ReturnType<typeof temporaryFolder>>;
const browser = await startBrowser();
beforeAll(async () => {
  folder = await temporaryFolder();
  const page = browser && { page: await freshPage() };
  const stateProofs = { interval: INTERVAL, from: FIRST_VOTERS };
  deployment = await startDeployment({ networks: [], roundMs: 100, stateProofs }, {}, page);
  const { sandbox, url } = deployment;
  const keys = await fetch(`${url}/.well-known/attestor-keys.json`);
  await writeFile(join(folder.path, "keys.json"), await keys.bytes());
  early = await buy("early.json");
  const { ledger } = sandbox.algorand;
  while (ledger.round < FIRST_VOTERS) ledger.advance();
  while (!ledger.stateProofs?.of(ledger.round - 2 * INTERVAL))
    await ledger.reached(ledger.round + 1, AbortSignal.timeout(60_000));
  const [txid] = await algorandSources(sandbox, 1);
  late = await buy("b.json", txid);
});
afterAll(async () => {
  await deployment?.sandbox.close();
  await browser?.close();
  await folder?.[Symbol.asyncDispose]();
});

/** @returns the path of the bundle's evidence */
async function buy(name: string, txid = deployment.sandbox.sampleTransactions.algorand): Promise<string> {
  const bundle = await buyAt("/attest", { txid });
  await writeFile(join(folder.path, name), JSON.stringify(bundle));
  return `/bundles/${hash("sha256", canonicalBytes(bundle), "base64url")}/evidence`;
}

async function buyAt(path: string, body: object): Promise<JsonObject> {
  const url = deployment.url + path;
  const answer = await payUntilAnswered(url, body, await sign(url, body, algorandClient(deployment.sandbox)));
  expect(answer.status, answer.text).toBe(200);
  return answer.json as JsonObject;
}

const keys = async () => parseKeyHistory(await readFile(join(folder.path, "keys.json")));

/** Asks after each round until the service has the whole evidence, of the source's own block, too. */
async function collected(path: string): Promise<Response> {
  const { ledger } = deployment.sandbox.algorand;
  for (;;) {
    const answer = await fetch(deployment.url + path);
    if (answer.status === 200 && answer.headers.get("cache-control") !== "no-cache") return answer;
    if (answer.status === 200) await answer.body?.cancel();
    else {
      expect(answer.status).toBe(202);
      expect(answer.headers.get("retry-after")).toBe("15");
      expect(await answer.json()).toEqual({ status: "pending", round: expect.any(Number) });
    }
    await ledger.reached(ledger.round + 1, AbortSignal.timeout(60_000));
  }
}

const run = (...args: string[]) => attestd(args, { cwd: folder.path });
const collect = (file: string, ...more: string[]) =>
  run("evidence", file, "--algod", deployment.sandbox.algodUrl, ...more);

describe("the service", () => {
  test("collects the evidence of what it delivers, and serves it without change, with the state proof or beside it", async () => {
    const answer = await collected(late);
    const [etag, text] = [answer.headers.get("etag") ?? "", await answer.text()];
    expect(answer.headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
    const again = await fetch(deployment.url + late, { headers: { "if-none-match": etag } });
    expect(again.status).toBe(304);
    await writeFile(join(folder.path, "served.json"), text);

    const { items } = JSON.parse(text);
    const [, { stateProofBase64, ...item }] = items;
    expect(items.map(({ type }: { type: string }) => type)).toContain("algorand-source-state-proof/1");
    const detached = await (await fetch(`${deployment.url}${late}?detached=1`)).json();
    // The source has a state proof of its own where it stands in an earlier interval than the attestation.
    const bare = items.map(({ stateProofBase64: _, ...rest }: { stateProofBase64?: string }) => rest);
    expect(detached).toEqual({ ...JSON.parse(text), items: bare });
    expect(items[2]).toEqual({ type: "algorand-authorisation/1", alg: "ed25519" });
    const proof = await fetch(`${deployment.url}/stateproofs/${item.stateProofSha256}`);
    expect(proof.headers.get("content-type")).toBe("application/msgpack");
    const bytes = await proof.bytes();
    expect(hash("sha256", bytes)).toBe(item.stateProofSha256);
    expect(Buffer.from(bytes).toString("base64")).toBe(stateProofBase64);
  });

  test("collects the block of what it attests, too, where that is one of the ledger's that nodes still have", async () => {
    const { attest } = JSON.parse(await readFile(join(folder.path, "b.json"), "utf8"));
    const [txid, height] = [attest.txnId as string, String(attest.round)];
    const other = JSON.parse(await readFile(join(folder.path, "early.json"), "utf8")).attest.txnId;
    const items = [{ txid }, { txid: other }];
    const inBlock = ["algorand-source-inclusion/1", "algorand-source-state-proof/1"];
    for (const [path, body, types, state] of [
      ["/attest", { txid }, inBlock, "pass"],
      ["/attest-block", { chain: "algorand", height }, inBlock.slice(1), "not_checked"],
      ["/prove-tx-inclusion", { chain: "algorand", txId: txid, height }, inBlock.slice(1), "not_checked"],
      ["/attest-batch", { items }, inBlock, "pass"],
    ] as const) {
      const answer = await buyAt(path, body);
      const [item] = (answer.items ?? []) as JsonObject[];
      const bundle = item && answer.batch ? { ...item, batch: answer.batch } : answer;
      const id = hash("sha256", canonicalBytes(bundle as JsonObject), "base64url");
      const text = await (await collected(`/bundles/${id}/evidence`)).text();
      const evidence = parseEvidence(text);
      expect(evidence.items.map(({ type }) => type).slice(3), path).toEqual(types);
      const checkpoints = evidence.items.flatMap((item) => ("checkpoint" in item ? [item.checkpoint] : []));
      const report = withEvidence(
        verify(JSON.stringify(bundle), { trust: await keys() }),
        JSON.stringify(bundle),
        text,
        {
          checkpoints,
        },
      );
      expect(report.evidence, path).toMatchObject({ failures: [], sourceInclusion: state, sourceStateProof: "pass" });
      expect(report.sourceRecordedBy, path).toMatchObject({ round: attest.round });
    }
  });

  test("gives nothing up because a node has no state proof, and knows no other bundle", async () => {
    expect((await fetch(deployment.url + early)).status).toBe(202);
    for (const path of [`/bundles/${"A".repeat(43)}/evidence`, `/stateproofs/${"0".repeat(64)}`])
      expect((await fetch(deployment.url + path)).status).toBe(404);
  });

  test("that was away for longer than its node remembers gets what it has missed from one that does not forget", async () => {
    const path = await buy("missed.json");
    const beforeProofs = JSON.parse(await readFile(join(folder.path, "early.json"), "utf8")).attest.round;
    await deployment.stopService();
    const { ledger, behaviour } = deployment.sandbox.algorand;
    const { attest } = JSON.parse(await readFile(join(folder.path, "missed.json"), "utf8"));
    await ledger.reached(attest.round + 3 * INTERVAL, AbortSignal.timeout(60_000));
    const file = settingsFileOf(deployment.settings.tables);
    const backfill = (...more: string[]) => run("backfill", "--sandbox", "--settings", file, "--json", ...more);
    // The settings name a node that has forgotten the round.
    behaviour.keptRounds = INTERVAL;
    const forgotten = await backfill();
    expect([forgotten.code, JSON.parse(forgotten.stdout).left], forgotten.stderr).toEqual([
      4,
      [beforeProofs, attest.round],
    ]);
    behaviour.keptRounds = 0;
    const found = await backfill("--algod", deployment.sandbox.algodUrl);
    expect([found.code, JSON.parse(found.stdout)], found.stderr).toEqual([4, { rounds: 2, left: [beforeProofs] }]);
    await deployment.restart();
    const answer = await fetch(deployment.url + path);
    expect(answer.status).toBe(200);
    const { items } = (await answer.json()) as { items: { type: string }[] };
    expect(items.map(({ type }) => type).slice(0, 3)).toEqual([
      "algorand-inclusion/1",
      "algorand-state-proof/1",
      "algorand-authorisation/1",
    ]);
  });
});

describe("evidence", () => {
  test("is waited for and saved by who buys", async () => {
    const { sandbox, url } = deployment;
    await writeFile(
      join(folder.path, "wallet.json"),
      JSON.stringify({ payers: sandbox.payers, algodUrl: sandbox.algodUrl }),
    );
    const parties = ["--service", url, "--wallet", "wallet.json", "--keys", "keys.json", "--out", "bought.json"];
    const bought = await run("attest", sandbox.sampleTransactions.algorand, ...parties, "--evidence", "--json");
    expect(bought.code, bought.stderr).toBe(0);
    expect(JSON.parse(bought.stdout)).toMatchObject({
      file: "bought.json",
      evidenceFile: "bought.evidence.json",
      evidence: { inclusion: "pass", authorisation: "pass" },
    });
    const { items } = JSON.parse(await readFile(join(folder.path, "bought.evidence.json"), "utf8"));
    expect(items.map(({ type }: { type: string }) => type)).toContain("algorand-state-proof/1");
  });

  test("is fetched from the service by who has the bundle alone", async () => {
    const ask = (file: string, ...more: string[]) => run("evidence", file, "--service", deployment.url, ...more);
    const { code, stdout, stderr } = await ask("b.json", "--wait", "60", "--out", "fetched.json", "--json");
    expect(code, stderr).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ file: "fetched.json", recordedBy: { round: expect.any(Number) } });
    const served = JSON.parse(await readFile(join(folder.path, "served.json"), "utf8"));
    expect(JSON.parse(await readFile(join(folder.path, "fetched.json"), "utf8"))).toEqual(served);
    const early = await ask("early.json");
    expect(early).toMatchObject({ code: 4, stderr: expect.stringContaining("No state proof attests the round") });
  });

  test("is refused with the reason where no state proof will ever attest the round", async () => {
    const { code, stderr } = await collect("early.json");
    expect(stderr).toMatch(/no state proof attests round \d+, or ever will/);
    expect(code).toBe(4);
  });

  test("rests on a table of one's own, which the service publishes", async () => {
    const { sandbox, url } = deployment;
    expect((await collect("b.json", "--wait", "60", "--save-checkpoint", "c.json")).code).toBe(0);
    const { round } = JSON.parse(await readFile(join(folder.path, "c.json"), "utf8"));
    // A walk begins from what a header states; the node keeps it.
    const first = sandbox.algorand.ledger.stateProofs?.of(round - INTERVAL + 1)?.message;
    const genesisHash = sandbox.algorand.genesisHash;
    const { lastAttestedRound = 0, votersCommitment = "", lnProvenWeight = 0 } = first ?? {};
    await writeFile(
      join(folder.path, "first.json"),
      JSON.stringify({ genesisHash, round: lastAttestedRound, votersCommitment, lnProvenWeight }),
    );
    const published = () => fetch(`${url}/.well-known/algorand-checkpoints.json`);
    expect((await published()).status).toBe(404);
    const sync = (table: string, ...from: string[]) =>
      run("checkpoints", "sync", table, "--from", "first.json", ...from);
    const walked = await sync("table", "--algod", sandbox.algodUrl, "--json");
    const { root, size } = JSON.parse(walked.stdout);
    const upTo = ["--to", String(JSON.parse(walked.stdout).last.round)];
    // An indexer that allows no search by type, as those of others do.
    sandbox.algorand.behaviour.indexerParameters = "default";
    const byIndexer = await sync("by-indexer", "--indexer", sandbox.indexerUrl, ...upTo);
    expect(byIndexer.stdout).toContain(root);
    const table = decodeCheckpointTable(await readFile(join(folder.path, "table")));
    await copyFile(join(folder.path, "table"), deployment.settings.tables.checkpoint_table as string);
    expect(await readFile(join(folder.path, "by-indexer"))).toEqual(await readFile(join(folder.path, "table")));
    await expect.poll(async () => (await published()).status, { timeout: 10_000 }).toBe(200);
    const of = readPublishedCheckpoints(await (await published()).json(), "");
    expect(of).toMatchObject({ root, size, interval: INTERVAL });
    expect(of.last.at(-1)).toEqual(checkpointAt(table, size - 1));

    const rooted = await fetch(`${url}${late}?table=${size}&detached=1`);
    await writeFile(join(folder.path, "by-service.json"), await rooted.text());
    expect((await fetch(`${url}${late}?table=${size + 1}`)).status).toBe(404);
    expect((await fetch(`${url}${late}?table=x`)).status).toBe(400);
    const files = ["--table", "table", "--state-proofs", "proofs", "--out", "rooted.json"];
    expect((await collect("b.json", ...files)).stdout).toContain("in your own table table");
    await writeFile(join(folder.path, "published.json"), JSON.stringify(of));
    const served = ["--evidence", "by-service.json", "--state-proofs", "proofs", "--keys", "keys.json"];
    const known = await run("verify", "b.json", ...served, "--checkpoint", root);
    expect(known.stdout).toMatch(/ALGO signed for the round; .*by the root/);
    const evidence = ["--evidence", "rooted.json", "--state-proofs", "proofs", "--keys", "keys.json"];
    for (const [trust, says] of [
      [["--checkpoint", root], "by the root"],
      [["--checkpoint", "published.json"], "by the root that a service publishes"],
      [["--checkpoint", "table"], "in your own table table"],
    ] as const) {
      const { stdout } = await run("verify", "b.json", ...evidence, ...trust);
      expect(stdout).toMatch(new RegExp(`ALGO signed for the round; .*${says}`));
    }
  });

  test("verifies with nothing running: by the command, the page, and programs that share no code with them", async () => {
    const context = await browser?.newContext({ serviceWorkers: "block" });
    const page = context && (await openPage(context, deployment.url));
    const collected = await collect("b.json", "--wait", "60", "--save-checkpoint", "c.json", "--force");
    expect(collected.stdout).toContain("Saved b.evidence.json");
    expect(collected.stdout).toMatch(/stake of more than 2,9\d\d,\d+(\.\d+)? ALGO signed for the round/);
    expect(collected.code).toBe(0);
    expect((await collect("b.json")).stderr).toContain("b.evidence.json is there already");
    await deployment.close();

    const files = { bundle: "b.json", keys: "keys.json", evidence: "served.json", checkpoint: "c.json" };
    const judgements = await judgeOffline(folder.path, files, page);
    expect(judgements.filter(({ isRecorded }) => !isRecorded)).toEqual([]);
    const own = ["verify", "b.json", "--keys", "keys.json", "--evidence", "b.evidence.json", "--checkpoint", "c.json"];
    expect((await run(...own)).stdout).toContain("ALGO signed for the round");
    console.log(`evidence: judged by ${judgements.map(({ judge }) => judge).join(", ")}`);

    // Of another checkpoint's voters nothing is believed.
    const path = join(folder.path, "c.json");
    const checkpoint = JSON.parse(await readFile(path, "utf8"));
    await writeFile(path, JSON.stringify({ ...checkpoint, lnProvenWeight: checkpoint.lnProvenWeight + 1 }));
    const offline = ["b.json", "--keys", "keys.json", "--evidence", "b.evidence.json", "--checkpoint", "c.json"];
    expect((await run("verify", ...offline)).stdout).toContain("no state proof on a trusted --checkpoint");
  });
});

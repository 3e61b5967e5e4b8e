import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { itemBundles, parseBatch, parseBundle, verify } from "@attestd/proof";
import { algorandCaip2 } from "@attestd/proof/algorand";
import { keyId } from "@attestd/proof/attestor";
import { fromBase64 } from "@attestd/proof/encoding";
import { type AlgorandStateProofItem, type Evidence, withEvidence } from "@attestd/proof/evidence";
import { canonicalBytes, type JsonObject } from "@attestd/proof/json";
import type { Sandbox } from "@attestd/sandbox";
import algosdk from "algosdk";
import { algorandSources } from "../e2e/many-sources.ts";
import { buy, priceOf } from "./buyer.ts";
import type { TestBed } from "./cell.ts";
import { expireLeases } from "./databases.ts";
import { newDeployment } from "./deployment.ts";
import type { EvidenceCell } from "./evidence-cells.ts";
import { signedIn } from "./judge.ts";
import { payerOf } from "./payers.ts";
import type { ServiceProcess } from "./process.ts";
import { requestFor, SUBJECTS } from "./subjects.ts";

export type EvidenceOutcome = {
  cell: EvidenceCell;
  /** The faults found; empty when the cell held. */
  wrong: string[];
  /** Requests for state proofs and light headers, of which none was needed twice. */
  asked: { stateProofs: number; lightHeaders: number };
  seconds: number;
};

/** What algod answered. `often`: what may be asked for more than once, and how often. */
type Asked = { paths: string[]; often: ReadonlyMap<string, number> };

const PAUSE_MS = 200;
const STATE_PROOF = /^\/v2\/stateproofs\/(\d+)$/;
const LIGHT_HEADER = /^\/v2\/blocks\/(\d+)\/lightheader\/proof$/;
const NOT_FOUND = {
  kind: "error",
  side: "before",
  status: 404,
  body: JSON.stringify({ message: "not here" }),
} as const;
/** What happens to the first requests, and how many of them. */
const NODE_FAULTS = {
  "state proof forgotten": { match: { path: STATE_PROOF }, to: 1, fault: NOT_FOUND },
  "light header forgotten": { match: { path: LIGHT_HEADER }, to: 1, fault: NOT_FOUND },
} as const;

/**
 * Buys one attestation of each subject from real processes, whose collector of evidence fails as the cell says; waits for the
 * evidence of each, and compares it with what the ledger has.
 */
export async function runEvidence(testBed: TestBed, cell: EvidenceCell): Promise<EvidenceOutcome> {
  const started = performance.now();
  const asked: Asked = { paths: [], often: new Map() };
  const wrong = await collect(testBed, cell, asked).catch((error: Error) => [`not completed: ${error.message}`]);
  const [stateProofs, lightHeaders] = [STATE_PROOF, LIGHT_HEADER].map((path) =>
    asked.paths.filter((one) => path.test(one)),
  );
  const seconds = (performance.now() - started) / 1_000;
  const counts = { stateProofs: stateProofs?.length ?? 0, lightHeaders: lightHeaders?.length ?? 0 };
  return { cell, wrong: [...wrong, ...repeated(cell, asked)], asked: counts, seconds };
}

async function collect(testBed: TestBed, cell: EvidenceCell, asked: Asked): Promise<string[]> {
  const { sandbox, databases, patienceMs } = testBed;
  const signal = AbortSignal.timeout(patienceMs);
  await using opened = new AsyncDisposableStack();
  const deployment = await newDeployment(sandbox, await databases.create(cell.journal));
  opened.defer(() => deployment.close());
  const { algod } = deployment.proxies;
  let isMet = cell.fault === "killed";
  // Before the rule that watches: of those that match, the oldest is applied.
  if (cell.fault !== "killed")
    algod.add({
      ...NODE_FAULTS[cell.fault],
      onBefore() {
        isMet = true;
      },
    });
  algod.add({
    match: { path: /./ },
    onAfter({ path }, { status }) {
      // A state proof that is not made yet is asked for in vain.
      if (status === 200) asked.paths.push(path);
    },
  });
  const start = async (options = {}) =>
    opened.adopt(await testBed.start(deployment.settings, options), (process) => process.kill());

  const first = await start(cell.fault === "killed" ? { killAt: cell.killAt } : {});
  const second = cell.journal === "postgres" ? await start() : undefined;
  let current: ServiceProcess = second ?? first;
  const going = cell.fault === "killed" ? takeOver() : Promise.resolve();
  going.catch(() => undefined);
  const payer = payerOf(sandbox);
  // The sandbox's samples are older than its state proofs.
  const source = await recentTransaction(sandbox);
  const included = await recentTransaction(sandbox);
  asked.often = new Map([
    // Of each sale by itself, where the collector was done with the one before.
    [lightHeader(source.height), SUBJECTS.length],
    // The sale of an inclusion asks, too, at each of its attempts.
    [lightHeader(included.height), Number.POSITIVE_INFINITY],
    [`/v2/stateproofs/${included.height}`, Number.POSITIVE_INFINITY],
  ]);
  const bundles: string[] = [];
  // To sell an inclusion the service asks for a light header, too, and would meet the fault.
  const subjects = cell.fault === "killed" ? SUBJECTS : SUBJECTS.filter((subject) => subject !== "inclusion");
  for (const subject of subjects) {
    const request = await requestFor(sandbox, subject, "algorand", subject === "inclusion" ? included : source);
    const payment = await payer(
      "algorand",
      await patient(() => priceOf(current.url, request, signal, "algorand"), signal),
    );
    const { status, text } = await buy(() => current.url, request, payment, signal);
    if (status !== 200) throw new Error(`the buyer got ${text.slice(0, 200)}`);
    bundles.push(text.startsWith('{"batch":') ? JSON.stringify(itemBundles(parseBatch(text))[0]) : text);
  }
  await going;
  const faults: string[] = [];
  for (const text of bundles) {
    const evidence = await evidenceOf(() => current.url, text, signal);
    faults.push(...faultsOf(sandbox, text, evidence));
  }
  return isMet ? faults : ["the fault was never met", ...faults];

  async function takeOver(): Promise<void> {
    const end = await Promise.race([first.ended, sleep(patienceMs / 2, "never")]);
    if (end !== "SIGKILL") throw new Error(`the commit was never reached: ${end}`);
    if (second) await expireLeases(deployment.databaseUrl);
    else current = await start();
  }
}

/** Repeats what a process that is killed meanwhile leaves without an answer. */
async function patient<T>(ask: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (signal.aborted) throw error;
      await sleep(PAUSE_MS);
    }
  }
}

/** Asks a service until it has the whole evidence of a bundle. */
async function evidenceOf(url: () => string, bundle: string, signal: AbortSignal): Promise<Evidence> {
  const id = createHash("sha256")
    .update(canonicalBytes(JSON.parse(bundle) as JsonObject))
    .digest("base64url");
  for (;;) {
    const answer = await patient(() => fetch(`${url()}/bundles/${id}/evidence`, { signal }), signal);
    const mayGrow = answer.headers.get("cache-control") === "no-cache";
    if (answer.status === 200 && !mayGrow) return (await answer.json()) as Evidence;
    await answer.body?.cancel();
    if (answer.status !== 202 && !mayGrow) throw new Error(`the evidence was answered with ${answer.status}`);
    await sleep(PAUSE_MS, undefined, { signal });
  }
}

function lightHeader(round: number): string {
  return `/v2/blocks/${round}/lightheader/proof`;
}

async function recentTransaction(sandbox: Sandbox): Promise<{ txId: string; height: number }> {
  const [txId = ""] = await algorandSources(sandbox, 1);
  const algod = new algosdk.Algodv2("", sandbox.algodUrl, new URL(sandbox.algodUrl).port);
  const { confirmedRound } = await algod.pendingTransactionInformation(txId).do();
  return { txId, height: Number(confirmedRound) };
}

/** Compares evidence with the state proofs that the sandbox's ledger has, on the voters whom the ledger names. */
function faultsOf({ algorand }: Sandbox, bundle: string, evidence: Evidence): string[] {
  const checkpoints = evidence.items.flatMap((item) => ("checkpoint" in item ? [item.checkpoint] : []));
  const parsed = parseBundle(bundle);
  const { attest, attestor } = signedIn(bundle);
  const trust = {
    kids: [keyId(fromBase64(attestor.pqPublicKey))],
    ledger: algorandCaip2(fromBase64(algorand.genesisHash)),
  };
  const report = withEvidence(verify(bundle, { trust }), bundle, evidence, { checkpoints });
  const hashOf = (round: number) => {
    const proven = algorand.ledger.stateProofs?.of(round);
    return proven && createHash("sha256").update(proven.stateProof).digest("hex");
  };
  const source = "block" in parsed ? parsed.block.height : (report.statement?.block.height ?? 0);
  const wrong = report.verified ? [] : [`the bundle is not verified: ${JSON.stringify(report.failures)}`];
  for (const [type, check, expected] of [
    ["algorand-state-proof/1", "stateProof", hashOf(attest.round)],
    ["algorand-source-state-proof/1", "sourceStateProof", hashOf(source)],
  ] as const) {
    const item = evidence.items.find((one) => one.type === type) as AlgorandStateProofItem | undefined;
    if (expected === undefined && check === "sourceStateProof" && item === undefined) continue;
    if (item?.stateProofSha256 !== expected) wrong.push(`${type} is not the ledger's: ${item?.stateProofSha256}`);
    else if (report.evidence?.[check] !== "pass")
      wrong.push(`the evidence does not verify: ${JSON.stringify(report.evidence)}`);
  }
  return wrong;
}

/** What was asked more often than once, and once more where an answer can have been lost. */
function repeated(cell: EvidenceCell, { paths, often }: Asked): string[] {
  const faults = cell.fault === "killed" ? 1 : NODE_FAULTS[cell.fault].to;
  const counted = paths.filter((path) => STATE_PROOF.test(path) || LIGHT_HEADER.test(path));
  return [...Map.groupBy(counted, (path) => path)]
    .filter(([path, all]) => all.length > (often.get(path) ?? 1) + faults)
    .map(([path, all]) => `${path} ${all.length} times`);
}

import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { itemBundles, parseBatch, verify } from "@attestd/proof";
import { type AlgorandStateProofItem, type Evidence, withEvidence } from "@attestd/proof/evidence";
import { canonicalBytes, type JsonObject } from "@attestd/proof/json";
import type { Sandbox } from "@attestd/sandbox";
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
  const asked: string[] = [];
  const wrong = await collect(testBed, cell, asked).catch((error: Error) => [`not completed: ${error.message}`]);
  const [stateProofs, lightHeaders] = [STATE_PROOF, LIGHT_HEADER].map((path) => asked.filter((one) => path.test(one)));
  const seconds = (performance.now() - started) / 1_000;
  const counts = { stateProofs: stateProofs?.length ?? 0, lightHeaders: lightHeaders?.length ?? 0 };
  return { cell, wrong: [...wrong, ...repeated(cell, asked)], asked: counts, seconds };
}

async function collect(testBed: TestBed, cell: EvidenceCell, asked: string[]): Promise<string[]> {
  const { sandbox, databases, patienceMs } = testBed;
  const signal = AbortSignal.timeout(patienceMs);
  await using opened = new AsyncDisposableStack();
  const deployment = await newDeployment(sandbox, await databases.create(cell.journal));
  opened.defer(() => deployment.close());
  const { algod } = deployment.proxies;
  algod.add({ match: { path: /./ }, onBefore: ({ path }) => void asked.push(path) });
  if (cell.fault !== "killed") algod.add(NODE_FAULTS[cell.fault]);
  const start = async (options = {}) =>
    opened.adopt(await testBed.start(deployment.settings, options), (process) => process.kill());

  const first = await start(cell.fault === "killed" ? { killAt: cell.killAt } : {});
  const second = cell.journal === "postgres" ? await start() : undefined;
  let current: ServiceProcess = second ?? first;
  const going = cell.fault === "killed" ? takeOver() : Promise.resolve();
  going.catch(() => undefined);
  const payer = payerOf(sandbox);
  const bundles: string[] = [];
  // To sell an inclusion the service asks for a light header, too, and would meet the fault.
  const subjects = cell.fault === "killed" ? SUBJECTS : SUBJECTS.filter((subject) => subject !== "inclusion");
  for (const subject of subjects) {
    const request = await requestFor(sandbox, subject, "algorand");
    const payment = await payer("algorand", await patient(() => priceOf(current.url, request, signal), signal));
    const { status, text } = await buy(() => current.url, request, payment, signal);
    if (status !== 200) throw new Error(`the buyer got ${text.slice(0, 200)}`);
    bundles.push(text);
  }
  await going;
  const faults: string[] = [];
  for (const text of bundles) {
    const evidence = await evidenceOf(() => current.url, text, signal);
    faults.push(...faultsOf(sandbox, text, evidence));
  }
  return faults;

  async function takeOver(): Promise<void> {
    const end = await Promise.race([first.ended, sleep(patienceMs / 2, "never")]);
    if (end !== "SIGKILL") throw new Error(`the commit was never reached: ${end}`);
    if (second) await expireLeases(deployment.settings.DATABASE_URL as string);
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
    .update(canonicalBytes(signedIn(bundle) as unknown as JsonObject))
    .digest("base64url");
  for (;;) {
    const answer = await patient(() => fetch(`${url()}/bundles/${id}/evidence`, { signal }), signal);
    if (answer.status === 200) return (await answer.json()) as Evidence;
    await answer.body?.cancel();
    if (answer.status !== 202) throw new Error(`the evidence was answered with ${answer.status}`);
    await sleep(PAUSE_MS, undefined, { signal });
  }
}

/** Compares evidence with the state proof that the sandbox's ledger has, on the voters whom the ledger names. */
function faultsOf({ algorand }: Sandbox, text: string, evidence: Evidence): string[] {
  const { attest } = signedIn(text);
  const proven = algorand.ledger.stateProofs?.of(attest.round);
  const item = evidence.items.find(({ type }) => type === "algorand-state-proof/1") as AlgorandStateProofItem;
  if (proven === undefined || item === undefined) return ["the evidence has no state proof"];
  const expected = createHash("sha256").update(proven.stateProof).digest("hex");
  const bundle = text.startsWith('{"batch":') ? JSON.stringify(itemBundles(parseBatch(text)).at(-1)) : text;
  const report = withEvidence(verify(bundle), bundle, evidence, { checkpoints: [item.checkpoint] });
  return [
    ...(item.stateProofSha256 === expected ? [] : ["the state proof is not the ledger's"]),
    ...(report.evidence?.stateProof === "pass"
      ? []
      : [`the evidence does not verify: ${JSON.stringify(report.evidence)}`]),
  ];
}

/** What was asked more often than once, and once more where an answer can have been lost. */
function repeated(cell: EvidenceCell, asked: readonly string[]): string[] {
  const faults = cell.fault === "killed" ? 1 : NODE_FAULTS[cell.fault].to;
  const reached = asked.filter((path) => STATE_PROOF.test(path) || LIGHT_HEADER.test(path)).length;
  if (cell.fault !== "killed" && reached <= faults) return ["the fault was never met"];
  const counts = Map.groupBy(
    asked.filter((path) => STATE_PROOF.test(path) || LIGHT_HEADER.test(path)),
    (path) => path,
  );
  return [...counts].filter(([, all]) => all.length > 1 + faults).map(([path, all]) => `${path} ${all.length} times`);
}

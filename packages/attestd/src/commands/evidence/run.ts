import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { setTimeout as wait } from "node:timers/promises";
import { type Bundle, isProofError, parseBundle, parseNote, signedPart, verify } from "@attestd/proof";
import { fromBase64 } from "@attestd/proof/encoding";
import {
  type CheckpointTable,
  type Evidence,
  type EvidenceItem,
  itemOf,
  onTable,
  parseEvidence,
  withEvidence,
} from "@attestd/proof/evidence";
import type { Checkpoint } from "@attestd/proof/state-proof";
import { isLoopback } from "@attestd/proof/text";
import { readFileContents } from "@attestd/web/bundle-file";
import { EXIT, type ExitCode, Failure, failsFor } from "../../failure.ts";
import { foundJsonObject, writeAtomically } from "../../files/files.ts";
import { isUrl, readSource, sourceOf } from "../../files/sources.ts";
import { waitOf } from "../../options.ts";
import type { Environment } from "../../terminal/environment.ts";
import { namedNode } from "../../trust/chain-check.ts";
import { notJson } from "../../trust/check-file.ts";
import { readCheckpointTable } from "../../trust/checkpoints.ts";
import { evidenceFileName, stateProofFile } from "../../trust/evidence-file.ts";
import { evidenceLines } from "../../trust/report-text.ts";
import { isSandboxLedger, runningSandbox } from "../../trust/sandbox-folder.ts";

type EvidenceOptions = {
  algod?: string;
  algodTokenFile?: string;
  service?: string;
  wait?: number | true;
  out?: string;
  saveCheckpoint?: string;
  table?: string;
  stateProofs?: string;
  force?: boolean;
  json?: boolean;
};

/** The pause between two questions to a node. In a sandbox state proofs come fast. */
const PAUSE_MS = { sandbox: 1_000, elsewhere: 15_000 };

/**
 * Collects a bundle's evidence from the user's own node, or fetches it from the service that delivered the bundle, and saves it.
 * The evidence shows offline, years later, that the ledger recorded the attestation.
 *
 * @param name the file or URL of a bundle or a certificate, or `-`
 * @throws Failure `unreachable` when the node does not have the evidence, or not yet
 */
export async function collectEvidence(
  name: string,
  options: EvidenceOptions,
  environment: Environment,
): Promise<ExitCode> {
  const { out } = environment;
  const path = options.out ?? defaultName(name);
  const files = [path, options.saveCheckpoint].filter((file) => file !== undefined);
  const taken = options.force ? undefined : files.find((file) => existsSync(file));
  if (taken !== undefined)
    throw new Failure(EXIT.usage, `${taken} is there already`, ["Replace it with --force, or choose another name."]);

  const table = options.table === undefined ? undefined : await readCheckpointTable(options.table);
  const bytes = await bundleIn(name, environment);
  const bundle = readBundle(name, bytes);
  const ledger = parseNote(signedPart(bundle).attest.note).g;
  const { service } = options;
  const named = await namedNode("algod", options.algod, options.algodTokenFile);
  const node = service === undefined ? (named ?? (await sandboxNode(ledger))) : { url: service };
  const { evidence, checkpoint } =
    service === undefined
      ? await collected(bytes, bundle, node, ledger, waitOf(options.wait), environment)
      : await fetched(bytes, service, ledger, waitOf(options.wait), environment);
  const rested = table ? restedOn(table, options.table as string, evidence) : evidence;

  await save(path, options.stateProofs === undefined ? rested : await saveStateProofs(rested, options.stateProofs));
  if (options.saveCheckpoint !== undefined) await save(options.saveCheckpoint, checkpoint);
  // The node's checkpoints count only for what is printed here: nothing that is saved says that they are trusted.
  const checkpoints = evidence.items.flatMap((item) => ("checkpoint" in item ? [item.checkpoint] : []));
  const report = withEvidence(verify(bytes, { trust: { kids: [], ledger } }), bytes, JSON.stringify(evidence), {
    checkpoints,
  });
  const restsOn = options.table === undefined ? undefined : ({ basis: "table", name: options.table } as const);
  const { recordedBy, sourceRecordedBy } = report;
  if (options.json)
    out.json({
      file: path,
      recordedBy,
      ...(sourceRecordedBy && { sourceRecordedBy }),
      checkpoint,
      ...(restsOn && { restsOn }),
    });
  else {
    out.marked("ok", `Saved ${path}`);
    for (const line of evidenceLines(report, restsOn, out)) out.line(`  ${line}`);
    const saved = options.saveCheckpoint ?? "keep it with --save-checkpoint";
    if (restsOn === undefined)
      out.line(`  only ${new URL(node.url).host} says that the checkpoint is Algorand's: ${saved}`);
  }
  return EXIT.good;
}

/** Lets evidence rest on a table. @throws Failure unless the table has the checkpoint on which the evidence rests */
function restedOn(table: CheckpointTable, name: string, evidence: Evidence): Evidence {
  const rested = onTable(evidence, table);
  if (rested === "other")
    throw new Failure(EXIT.notVerified, `the node's evidence does not rest on ${name}`, [
      "They differ in the stake that signed.",
    ]);
  if (rested === "absent")
    throw new Failure(EXIT.usage, `${name} has no checkpoint for this round`, [
      "Bring it up to date: attestd checkpoints sync.",
    ]);
  return rested;
}

/** Saves state proofs under their hashes, unless they are there already. @returns the evidence, which only names them */
async function saveStateProofs(evidence: Evidence, folder: string): Promise<Evidence> {
  const failure = failsFor(EXIT.usage, `write ${folder}`, "folder", "Choose another one.");
  await mkdir(folder, { recursive: true }).catch(failure);
  const items: EvidenceItem[] = [];
  for (const item of evidence.items) {
    if (!("stateProofBase64" in item) || item.stateProofBase64 === undefined) {
      items.push(item);
      continue;
    }
    const { stateProofBase64, ...named } = item;
    const file = stateProofFile(folder, named.stateProofSha256);
    if (!existsSync(file)) await writeAtomically(file, fromBase64(stateProofBase64), 0o644).catch(failure);
    items.push(named);
  }
  return { ...evidence, items };
}

function defaultName(name: string): string {
  if (name === "-" || isUrl(name)) return "evidence.json";
  return evidenceFileName(name);
}

async function bundleIn(name: string, environment: Environment): Promise<Uint8Array> {
  const content = await readSource(sourceOf(name), () => environment.stdin);
  if (!Buffer.isBuffer(content)) throw new Failure(content.exitCode, `can't read ${name}`, [content.why]);
  const contents = await readFileContents(content).catch((error: unknown) => {
    if (isProofError(error, "json")) return { kind: "broken", why: notJson(error) } as const;
    throw error;
  });
  if (contents.kind === "bundle") return contents.bytes;
  const why = contents.kind === "broken" ? contents.why : "attestd inspect shows what else it may be.";
  throw new Failure(EXIT.unreadable, `${name} is not a bundle`, [why]);
}

function readBundle(name: string, bytes: Uint8Array): Bundle {
  try {
    return parseBundle(bytes);
  } catch (error) {
    if (!isProofError(error, "format") && !isProofError(error, "json")) throw error;
    throw new Failure(EXIT.unreadable, `${name} is not a bundle`, [`${error.pointer} ${error.message}.`.trim()], error);
  }
}

/** Asks the service that delivered the bundle. @throws Failure `unreachable` while the service has no state proof */
async function fetched(
  bundle: Uint8Array,
  service: string,
  ledger: string,
  waitSeconds: number,
  environment: Environment,
): Promise<{ evidence: Evidence; checkpoint: Checkpoint }> {
  const { AttestError, fetchEvidence } = await import("@attestd/client");
  const signal = environment.stop();
  using _working = environment.working("asking the service");
  const pause = isSandboxLedger(ledger) ? { intervalMs: PAUSE_MS.sandbox } : {};
  try {
    const { evidenceBytes } = await fetchEvidence({ service, bundle, maxWaitMs: waitSeconds * 1000, signal, ...pause });
    const evidence = parseEvidence(evidenceBytes);
    const proof = itemOf(evidence, "algorand-state-proof/1");
    if (proof) return { evidence, checkpoint: proof.item.checkpoint };
    throw new Failure(EXIT.unreachable, "the service's evidence has no state proof", [
      "Its network makes no state proof for this round.",
    ]);
  } catch (error) {
    if (!(error instanceof AttestError)) throw error;
    const code = error.code === "interrupted" ? EXIT.interrupted : EXIT.unreachable;
    throw new Failure(code, error.message, error.code === "not_yet" ? ["Wait for it: --wait."] : [], error);
  }
}

/** The node of the sandbox in `./.attestd`. @throws Failure `usage` without one */
async function sandboxNode(ledger: string) {
  const sandbox = isSandboxLedger(ledger) ? runningSandbox() : undefined;
  const algodUrl = sandbox && foundJsonObject(sandbox.folder.description)?.algodUrl;
  if (typeof algodUrl === "string" && isLoopback(new URL(algodUrl).hostname)) return { url: algodUrl };
  throw new Failure(EXIT.usage, "evidence comes from a node of the ledger", [
    "Name yours: --algod URL. Or name the service that delivered the bundle: --service URL.",
  ]);
}

/** Asks the node until there is a state proof, or the time is over. */
async function collected(
  bytes: Uint8Array,
  bundle: Bundle,
  node: { url: string; token?: string },
  ledger: string,
  waitSeconds: number,
  environment: Environment,
) {
  const { round } = signedPart(bundle).attest;
  const { openEvidenceNode } = await import("@attestd/service/own-nodes");
  const { ServiceError } = await import("@attestd/service/errors");
  const stop = environment.stop();
  using working = environment.working("asking the node");
  const deadline = Date.now() + waitSeconds * 1000;
  const pause = isSandboxLedger(ledger) ? PAUSE_MS.sandbox : PAUSE_MS.elsewhere;
  try {
    const { collect } = await openEvidenceNode(node, ledger);
    for (;;) {
      const found = await collect(bytes);
      if (found) return found;
      if (Date.now() + pause > deadline)
        throw new Failure(EXIT.unreachable, `no state proof covers round ${round} yet`, [
          "On MainNet it comes some 18 minutes after the round. Wait for it: --wait.",
        ]);
      working.show(`waiting for the state proof of round ${round}`);
      await wait(pause, undefined, { signal: stop }).catch(() => {
        throw new Failure(EXIT.interrupted, "interrupted");
      });
    }
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    throw new Failure(EXIT.unreachable, `${error.message}.`, [], error);
  }
}

async function save(path: string, value: object): Promise<void> {
  const failure = failsFor(EXIT.usage, `write ${path}`, "folder", "Choose another file.");
  await writeAtomically(path, `${JSON.stringify(value)}\n`, 0o644).catch(failure);
}

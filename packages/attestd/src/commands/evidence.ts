import { existsSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import { type Bundle, isProofError, parseBundle, parseNote, signedPart, verify } from "@attestd/proof";
import { withEvidence } from "@attestd/proof/evidence";
import { readFileContents } from "@attestd/web/bundle-file";
import { DEFAULT_WAIT } from "../command-line/options.ts";
import type { Environment } from "../environment.ts";
import { evidenceLines } from "../evidence-text.ts";
import { EXIT, type ExitCode, Failure, failsFor } from "../failure.ts";
import { readJsonObject, writeWhole } from "../files.ts";
import { isLoopback } from "../loopback.ts";
import { isSandboxLedger, standingSandbox } from "../sandbox-folder.ts";
import { tokenIn } from "../secret-file.ts";
import { isUrl, readSource } from "../sources.ts";

export type EvidenceOptions = {
  algod?: string;
  algodTokenFile?: string;
  /** In seconds; `true` for the default. */
  wait?: number | true;
  out?: string;
  saveCheckpoint?: string;
  force?: boolean;
  json?: boolean;
};

/** Between two questions to a node: a sandbox's state proofs come fast. */
const PAUSE_MS = { sandbox: 1_000, elsewhere: 15_000 };

/**
 * Collects a bundle's evidence from one's own node, and saves it: it shows offline, years later, that the ledger recorded the
 * attestation.
 *
 * @param name of a bundle or a certificate: a file, a URL, or `-`
 * @throws Failure `unreachable` when the node does not have it, or not yet
 */
export async function evidence(name: string, options: EvidenceOptions, environment: Environment): Promise<ExitCode> {
  const { out } = environment;
  const path = options.out ?? defaultName(name);
  const files = [path, options.saveCheckpoint].filter((file) => file !== undefined);
  const taken = options.force ? undefined : files.find((file) => existsSync(file));
  if (taken !== undefined)
    throw new Failure(EXIT.usage, `${taken} is there already`, ["Replace it with --force, or choose another name."]);

  const bytes = await bundleIn(name, environment);
  const bundle = readBundle(name, bytes);
  const ledger = parseNote(signedPart(bundle).attest.note).g;
  const node = await nodeOf(options, ledger);
  const { evidence, checkpoint } = await collected(bytes, bundle, node, ledger, waitOf(options), environment);

  await save(path, evidence);
  if (options.saveCheckpoint !== undefined) await save(options.saveCheckpoint, checkpoint);
  const report = withEvidence(verify(bytes), bytes, JSON.stringify(evidence), { checkpoints: [checkpoint] });
  if (options.json) out.json({ file: path, recordedBy: report.recordedBy, checkpoint });
  else {
    out.marked("ok", `Saved ${path}`);
    for (const line of evidenceLines(report, out)) out.line(`  ${line}`);
    const { host } = new URL(node.url);
    const saved = options.saveCheckpoint === undefined ? "keep it with --save-checkpoint" : options.saveCheckpoint;
    out.line(`  the checkpoint is the word of ${host}: ${saved}`);
  }
  return EXIT.good;
}

function defaultName(name: string): string {
  if (name === "-" || isUrl(name)) return "evidence.json";
  return `${name.replace(/\.(json|pdf|svg)$/i, "")}.evidence.json`;
}

async function bundleIn(name: string, environment: Environment): Promise<Uint8Array> {
  const kind = name === "-" ? "stdin" : isUrl(name) ? "url" : "file";
  const whole = await readSource({ name, kind, isFound: false }, () => environment.stdin);
  const contents = await readFileContents(whole).catch((error: unknown) => {
    if (isProofError(error, "json")) return { kind: "other" } as const;
    throw error;
  });
  if (contents.kind === "bundle") return contents.bytes;
  throw new Failure(EXIT.unreadable, `${name} is no bundle`, ["attestd inspect shows what else it may be."]);
}

function readBundle(name: string, bytes: Uint8Array): Bundle {
  try {
    return parseBundle(bytes);
  } catch (error) {
    if (!isProofError(error, "format") && !isProofError(error, "json")) throw error;
    throw new Failure(EXIT.unreadable, `${name} is no bundle`, [`${error.pointer} ${error.message}.`.trim()], error);
  }
}

/** The user's own node, or that of the sandbox in `./.attestd`. */
async function nodeOf({ algod, algodTokenFile }: EvidenceOptions, ledger: string) {
  if (algod !== undefined) return { url: algod, ...(algodTokenFile && { token: await tokenIn(algodTokenFile) }) };
  const sandbox = isSandboxLedger(ledger) ? await standingSandbox() : undefined;
  const { algodUrl } = sandbox ? await readJsonObject(sandbox.folder.description) : {};
  if (typeof algodUrl === "string" && isLoopback(new URL(algodUrl).hostname)) return { url: algodUrl };
  throw new Failure(EXIT.usage, "evidence comes from a node of the ledger", ["Name yours: --algod URL."]);
}

function waitOf({ wait = 0 }: EvidenceOptions): number {
  return wait === true ? DEFAULT_WAIT : wait;
}

/** Asks until there is a state proof, or the time is over. */
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
        throw new Failure(EXIT.unreachable, `no state proof attests round ${round} yet`, [
          "On MainNet one does some 18 minutes later. Wait for it: --wait.",
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
  await writeWhole(path, `${JSON.stringify(value)}\n`, 0o644).catch(failure);
}

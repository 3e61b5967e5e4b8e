import { createHash } from "node:crypto";
import { parseBundle, signedPart, verify } from "@attestd/proof";
import { decodeMsgpackMap, getBytes, getInteger, type MsgpackMap, splitBlock } from "@attestd/proof/algorand";
import { toBase64 } from "@attestd/proof/encoding";
import { type Evidence, withEvidence } from "@attestd/proof/evidence";
import { canonicalBytes } from "@attestd/proof/json";
import { type Checkpoint, checkpointAfter, checkpointInHeader, stateProofTracking } from "@attestd/proof/state-proof";
import { proveInPayset, readAlgorandHeader } from "../chains/algorand/block-work.ts";
import { digestsOf } from "../chains/algorand/light-header.ts";
import { ServiceError } from "../errors.ts";
import type { Algod } from "../providers/algod.ts";
import { unavailable } from "../providers/provider.ts";

/** What shows that the ledger recorded an attestation, and the checkpoint that it rests on. */
export type Collected = { evidence: Evidence; checkpoint: Checkpoint };

/**
 * Collects a bundle's evidence (docs/format.md, "Evidence") from one node. What the node says is not believed: evidence that
 * does not verify is not returned. The checkpoint is the node's word.
 *
 * @param bundle its JSON, UTF-8
 * @returns undefined while no state proof attests the round of the record
 * @throws source_not_kept when the node has forgotten the block; evidence_impossible when no state proof will ever attest
 *   the round; ProviderError when the node gives no answer, or one that does not verify
 */
export async function collectEvidence(
  bundle: Uint8Array,
  algod: Algod,
  signal: AbortSignal,
): Promise<Collected | undefined> {
  const signed = signedPart(parseBundle(bundle));
  const { txnId, round } = signed.attest;
  const block = await blockOf(algod, round, signal);
  const { header } = algod.decode(() => readAlgorandHeader(block, round));
  const found = algod.decode(() => proveInPayset(block, txnId));
  if (found.kind !== "transaction" || found.inclusion.tree !== "txn256")
    throw unavailable(`${algod.name} does not show ${txnId} in round ${round}`);

  const proven = await algod.provenRounds(round, signal);
  const path = proven && (await algod.stateProof(round, signal));
  if (proven === undefined || path === undefined) {
    await requirePossible(header, round, algod, signal);
    return undefined;
  }
  const { message, stateProof } = proven;
  const genesisHash = getBytes(decodeMsgpackMap(header), "gh") ?? new Uint8Array();
  const checkpoint = await checkpointBefore(message.firstAttestedRound, genesisHash, algod, signal);
  const { index, stibBase64, siblings } = found.inclusion;
  const evidence: Evidence = {
    format: "attestd.evidence/1",
    bundle: `sha256:${sha256(canonicalBytes(signed))}`,
    items: [
      {
        type: "algorand-inclusion/1",
        txnBytesBase64: toBase64(found.bytes),
        headerBase64: toBase64(header),
        index,
        stibBase64,
        siblings,
      },
      {
        type: "algorand-state-proof/1",
        siblings: digestsOf(path.siblings).map(toBase64),
        message,
        stateProofSha256: sha256(stateProof),
        stateProofBase64: toBase64(stateProof),
        checkpoint,
      },
    ],
  };
  requireSound(bundle, { evidence, checkpoint }, algod);
  return { evidence, checkpoint };
}

async function blockOf(algod: Algod, round: number, signal: AbortSignal): Promise<Uint8Array> {
  const block = await algod.block(round, signal);
  if (block !== undefined) return block;
  throw new ServiceError("source_not_kept", `${algod.name} does not have round ${round}, or not any more`);
}

/**
 * Nothing attests the rounds before a network's first state proof. The header names the round up to which is proven next: when
 * a later header names another one, that proof is made, or never will be.
 */
async function requirePossible(header: Uint8Array, round: number, algod: Algod, signal: AbortSignal): Promise<void> {
  const latest = splitBlock(await blockOf(algod, await algod.lastRound(signal), signal)).header;
  const nextIn = (one: MsgpackMap) => Number(getInteger(stateProofTracking(one), "n"));
  const [next, now] = [nextIn(decodeMsgpackMap(header)), nextIn(latest)];
  if (next < round || now <= next || (await algod.provenRounds(round, signal))) return;
  const message = `no state proof attests round ${round}, or ever will: the network made none for these rounds`;
  throw new ServiceError("evidence_impossible", message);
}

/** What the message before says of the voters, or of the first state proof the header before. */
async function checkpointBefore(
  first: number,
  genesisHash: Uint8Array,
  algod: Algod,
  signal: AbortSignal,
): Promise<Checkpoint> {
  const before = await algod.provenRounds(first - 1, signal);
  if (before !== undefined) return checkpointAfter(genesisHash, before.message);
  const block = await blockOf(algod, first - 1, signal);
  const checkpoint = algod.decode(() => checkpointInHeader(splitBlock(block).header));
  if (checkpoint === undefined) throw unavailable(`${algod.name} gave a header of round ${first - 1} without voters`);
  return checkpoint;
}

function requireSound(bundle: Uint8Array, { evidence, checkpoint }: Collected, algod: Algod): void {
  const report = withEvidence(verify(bundle), bundle, JSON.stringify(evidence), { checkpoints: [checkpoint] });
  const [failure] = report.evidence?.failures ?? [];
  if (failure === undefined && report.evidence?.stateProof === "pass") return;
  throw unavailable(`${algod.name} gave evidence that does not verify: ${failure?.pointer} ${failure?.message}`);
}

function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

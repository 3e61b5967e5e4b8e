import { createHash } from "node:crypto";
import { parseBundle, signedPart } from "@attestd/proof";
import { decodeMsgpackMap, getBytes, splitBlock } from "@attestd/proof/algorand";
import { fromBase64, fromUtf8, toBase64 } from "@attestd/proof/encoding";
import { authorisationItem, type Evidence } from "@attestd/proof/evidence";
import { canonicalBytes } from "@attestd/proof/json";
import type { Checkpoint } from "@attestd/proof/state-proof";
import { digestsOf } from "../../chains/algorand/light-header.ts";
import { ServiceError } from "../../errors.ts";
import type { Algod } from "../../providers/algod.ts";
import { unavailable } from "../../providers/provider.ts";
import { checkpointFrom, provenNext, stateProofFrom } from "./nodes.ts";
import { include, judge, rest } from "./work.ts";

/** What shows that the ledger recorded an attestation, and the checkpoint that it rests on. */
export type Collected = { evidence: Evidence; checkpoint: Checkpoint };

/**
 * Collects a bundle's evidence (docs/format.md, "Evidence") from one node. What the node says is not believed: evidence that
 * does not verify is not returned. The checkpoint is the node's word.
 *
 * @param bytes the bundle's JSON, UTF-8
 * @returns undefined while no state proof attests the round of the record
 * @throws source_not_kept when the node has forgotten the block; evidence_impossible when no state proof will ever attest
 *   the round; ProviderError when the node gives no answer, or one that does not verify
 */
export async function collectEvidence(
  bytes: Uint8Array,
  algod: Algod,
  signal: AbortSignal,
): Promise<Collected | undefined> {
  const bundle = fromUtf8(bytes);
  const signed = signedPart(parseBundle(bytes));
  const { txnId, round } = signed.attest;
  const block = await blockOf(algod, round, signal);
  const [inclusion] = await include(block, round, [{ txnId, bundle }]).catch((error: unknown) => {
    throw unavailable(`${algod.name} answered with data that cannot be read`, error);
  });
  if (inclusion === undefined) throw unavailable(`${algod.name} does not show ${txnId} in round ${round}`);
  const header = fromBase64(inclusion.headerBase64);

  const served = await stateProofFrom(algod, round, signal);
  const path = served && (await algod.lightHeader(round, signal));
  if (served === undefined || path === undefined) {
    await requirePossible(header, round, algod, signal);
    return undefined;
  }
  const { content, ...named } = served;
  const first = named.message.firstAttestedRound;
  const genesisHash = toBase64(getBytes(decodeMsgpackMap(header), "gh") ?? new Uint8Array());
  const checkpoint = await checkpointFrom(algod, first, genesisHash, signal);
  if (checkpoint === undefined)
    throw new ServiceError("source_not_kept", `${algod.name} does not have round ${first - 1}, or not any more`);
  const proof = { ...named, checkpoint };
  const fault = judge(content, proof);
  if (fault !== undefined) throw unavailable(`${algod.name} gave a state proof that does not verify: ${fault}`);
  const [item] = await rest(content, proof, digestsOf(path.siblings), [{ bundle, inclusion }]);
  if (item === undefined) throw unavailable(`${algod.name} gave a light header that does not lead to the state proof`);
  const digest = createHash("sha256").update(canonicalBytes(signed)).digest("hex");
  const authorisation = authorisationItem(inclusion);
  const items = [
    inclusion,
    { ...item, stateProofBase64: toBase64(content) },
    ...(authorisation ? [authorisation] : []),
  ];
  return { evidence: { format: "attestd.evidence/1", bundle: `sha256:${digest}`, items }, checkpoint };
}

async function blockOf(algod: Algod, round: number, signal: AbortSignal): Promise<Uint8Array> {
  const block = await algod.block(round, signal);
  if (block !== undefined) return block;
  throw new ServiceError("source_not_kept", `${algod.name} does not have round ${round}, or not any more`);
}

/** Nothing attests the rounds before a network's first state proof. */
async function requirePossible(header: Uint8Array, round: number, algod: Algod, signal: AbortSignal): Promise<void> {
  const latest = splitBlock(await blockOf(algod, await algod.lastRound(signal), signal)).headerBytes;
  const [next, now] = [provenNext(header), provenNext(latest)];
  if (next < round || now <= next || (await algod.provenRounds(round, signal))) return;
  const message = `no state proof attests round ${round}, or ever will: the network made none for these rounds`;
  throw new ServiceError("evidence_impossible", message);
}

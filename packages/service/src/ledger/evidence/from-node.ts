import { type Bundle, bundleId, parseBundle, parseNote, signedPart } from "@attestd/proof";
import { decodeMsgpackMap, getBytes, splitRawBlock } from "@attestd/proof/algorand";
import { fromBase64, fromUtf8, toBase64 } from "@attestd/proof/encoding";
import { authorisationItem, type Evidence, type EvidenceItem } from "@attestd/proof/evidence";
import { type Checkpoint, commitsToHeader } from "@attestd/proof/state-proof";
import { digestsOf } from "../../chains/algorand/light-header.ts";
import { hasCode, ignoring, ServiceError } from "../../lib/errors.ts";
import type { Algod } from "../../providers/algod.ts";
import { unavailable } from "../../providers/provider.ts";
import { evidenceOf, itemsOfSource, recordItem, stakeItem } from "./evidence-file.ts";
import type { KeptStake } from "./journal.ts";
import { checkpointFrom, provenNext, stateProofFrom } from "./nodes.ts";
import { include, judge } from "./work.ts";

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
  const whole = parseBundle(bytes);
  const signed = signedPart(whole);
  const { txnId, round } = signed.attest;
  const block = await blockOf(algod, round, signal);
  const included = await include(block, round, [{ txnId }], bundle).catch((error: unknown) => {
    throw unavailable(`${algod.name} answered with data that cannot be read`, error);
  });
  const shown = included.found[0]?.inclusion;
  if (shown === undefined) throw unavailable(`${algod.name} does not show ${txnId} in round ${round}`);
  const inclusion = recordItem(included.headerBase64, shown);
  const header = fromBase64(inclusion.headerBase64);

  const stake = await stakeFor(header, round, algod, signal);
  if (stake === undefined) {
    await requirePossible(header, round, algod, signal);
    return undefined;
  }
  requireCommitted(stake, header, algod);
  const authorisation = authorisationItem(inclusion);
  const items = [
    inclusion,
    stakeItem("algorand-state-proof/1", stake, stake.content),
    ...(authorisation ? [authorisation] : []),
    ...(await sourceItems(whole, stake.sha256, algod, signal)),
  ];
  return { evidence: evidenceOf(bundleId(signed), items), checkpoint: stake.checkpoint };
}

/**
 * The state proof that attests a header's round, with its checkpoint, and the way to its commitment.
 * @returns undefined where the node has none
 * @throws source_not_kept, ProviderError
 */
async function stakeFor(header: Uint8Array, round: number, algod: Algod, signal: AbortSignal) {
  const served = await stateProofFrom(algod, round, signal);
  const path = served && (await algod.lightHeader(round, signal));
  if (served === undefined || path === undefined) return undefined;
  const first = served.message.firstAttestedRound;
  const genesisHash = toBase64(getBytes(decodeMsgpackMap(header), "gh") ?? new Uint8Array());
  const checkpoint = await checkpointFrom(algod, first, genesisHash, signal);
  if (checkpoint === undefined)
    throw new ServiceError("source_not_kept", `${algod.name} does not have round ${first - 1}, or not any more`);
  const proof = { ...served, checkpoint };
  const fault = judge(served.content, proof);
  if (fault !== undefined) throw unavailable(`${algod.name} gave a state proof that does not verify: ${fault}`);
  return { ...proof, siblings: digestsOf(path.siblings).map(toBase64) };
}

/**
 * What shows the block of a source on the ledger's own network: nothing where the node does not have it any more.
 * @param held the hash of the state proof that another item has
 */
async function sourceItems(bundle: Bundle, held: string, algod: Algod, signal: AbortSignal): Promise<EvidenceItem[]> {
  const source = sourceIn(bundle);
  const block = source && (await algod.block(source.round, signal));
  if (source === undefined || block === undefined) return [];
  const { headerBase64, found } = await include(block, source.round, [source]);
  const [shown] = found;
  if (shown === undefined) throw unavailable(`${algod.name} has another block ${source.round} than was attested`);
  const headerBytes = fromBase64(headerBase64);
  const stake = await stakeFor(headerBytes, source.round, algod, signal).catch(
    ignoring((error) => hasCode(error, "source_not_kept")),
  );
  if (stake !== undefined) requireCommitted(stake, headerBytes, algod);
  const content = stake?.sha256 === held ? undefined : stake?.content;
  return itemsOfSource({ headerBase64, stake }, shown.inclusion, content);
}

/** @throws ProviderError unless the node's light header leads from the header to the state proof */
function requireCommitted({ message, siblings }: KeptStake, header: Uint8Array, { name }: Algod): void {
  if (!commitsToHeader(message, header, siblings.map(fromBase64)))
    throw unavailable(`${name} gave a light header that does not lead to the state proof`);
}

/** The block that a bundle is about, or that of its transaction, if it is of the network on which it is recorded. */
function sourceIn(bundle: Bundle) {
  const note = parseNote(signedPart(bundle).attest.note);
  const chain = "statement" in bundle ? bundle.statement.chain : "c" in note ? note.c : undefined;
  if (chain !== note.g) return undefined;
  if ("block" in bundle) return { round: bundle.block.height, blockHash: bundle.block.blockHash };
  const { txnId } = bundle.source;
  if ("statement" in bundle)
    return { round: bundle.statement.block.height, blockHash: bundle.statement.block.hash, txnId };
  return "t" in note ? { round: note.n, blockHash: note.b, txnId } : undefined;
}

async function blockOf(algod: Algod, round: number, signal: AbortSignal): Promise<Uint8Array> {
  const block = await algod.block(round, signal);
  if (block !== undefined) return block;
  throw new ServiceError("source_not_kept", `${algod.name} does not have round ${round}, or not any more`);
}

/** Nothing attests the rounds before a network's first state proof. */
async function requirePossible(header: Uint8Array, round: number, algod: Algod, signal: AbortSignal): Promise<void> {
  const latest = splitRawBlock(await blockOf(algod, await algod.lastRound(signal), signal)).headerBytes;
  const [next, now] = [provenNext(header), provenNext(latest)];
  if (next < round || now <= next || (await algod.provenRounds(round, signal))) return;
  const message = `no state proof attests round ${round}, or ever will: the network made none for these rounds`;
  throw new ServiceError("evidence_impossible", message);
}

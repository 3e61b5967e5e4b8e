import { bundleId, parseBundle, signedPart, verify } from "@attestd/proof";
import { equalBytes, toBase64 } from "@attestd/proof/encoding";
import { type AlgorandInclusionItem, authorisationItem, type Evidence, withEvidence } from "@attestd/proof/evidence";
import { checkStateProof } from "@attestd/proof/state-proof";
import { paysetProver, readAlgorandHeader } from "../../chains/algorand/block-work.ts";
import { serviceCrypto, trusting } from "../../crypto/crypto.ts";
import type { Delivered, KeptStateProof } from "./journal.ts";
import { evidenceOf } from "./sidecar.ts";
import type { SourceHeader, UnfinishedSource } from "./source-journal.ts";

/*
 * The costly part of collecting evidence: functions of bytes and JSON alone, for a thread of their own (`block-worker.ts`).
 * They verify as any verifier of the evidence will, but for the signature of the bundle.
 */

/**
 * The signature of what was delivered was verified when it was made, and no evidence rests on it: to verify it for each item
 * would take as long as all else here.
 */
const crypto = serviceCrypto().then(trusting);

/**
 * Shows in a round's block that attestations stand there.
 *
 * @param block `{block, cert}` in msgpack, as a node gave it
 * @returns the items of those that it shows, in the order of `delivered`
 * @throws ProofError `malformed` when this is no block of that round
 */
export async function include(
  block: Uint8Array,
  round: number,
  delivered: readonly Delivered[],
): Promise<(AlgorandInclusionItem | undefined)[]> {
  const headerBase64 = toBase64(readAlgorandHeader(block, round).header);
  const prove = proverOf(block);
  return Promise.all(
    delivered.map(async ({ txnId, bundle }) => {
      const found = prove(txnId);
      if (found.kind !== "transaction" || found.inclusion.tree !== "txn256") return undefined;
      const { index, stibBase64, siblings } = found.inclusion;
      const txnBytesBase64 = toBase64(found.bytes);
      const item = { type: "algorand-inclusion/1", txnBytesBase64, headerBase64, index, stibBase64, siblings } as const;
      const authorisation = authorisationItem(item);
      const report = await judged(bundle, [item, ...(authorisation ? [authorisation] : [])]);
      const { inclusion, authorisation: signed } = report?.evidence ?? {};
      return inclusion === "pass" && signed !== "fail" ? item : undefined;
    }),
  );
}

/**
 * Shows in a round's block that sources stand there: that it is the block that was attested, and has the transaction.
 *
 * @param block `{block, cert}` in msgpack, as a node gave it
 * @returns the header of those that it shows, in the order of `sources`
 * @throws ProofError `malformed` when this is no block of that round
 */
export function includeSources(
  block: Uint8Array,
  round: number,
  sources: readonly Pick<UnfinishedSource, "blockHash" | "txnId">[],
): (SourceHeader | undefined)[] {
  const { header, blockHash } = readAlgorandHeader(block, round);
  const headerBase64 = toBase64(header);
  let prove: ReturnType<typeof paysetProver> | undefined;
  return sources.map(({ blockHash: attested, txnId }) => {
    if (attested !== blockHash) return undefined;
    if (txnId === undefined) return { headerBase64 };
    prove ??= proverOf(block);
    const found = prove(txnId);
    if (found.kind !== "transaction" || found.inclusion.tree !== "txn256") return undefined;
    const { index, stibBase64, siblings } = found.inclusion;
    return { headerBase64, transaction: { index, stibBase64, siblings } };
  });
}

/** The last block and its tree: all that stands in one block is shown by it, a few at a time. */
let last: { block: Uint8Array; prove: ReturnType<typeof paysetProver> } | undefined;

function proverOf(block: Uint8Array): ReturnType<typeof paysetProver> {
  if (!last || !equalBytes(last.block, block)) last = { block, prove: paysetProver(block) };
  return last.prove;
}

/** Verifies a state proof on its checkpoint. @returns why it is none, or undefined */
export function judge(content: Uint8Array, { message, checkpoint }: KeptStateProof): string | undefined {
  return checkStateProof(content, message, checkpoint);
}

/** @returns undefined for what is no bundle */
async function judged(bundle: string, items: Evidence["items"]) {
  const own = verify(bundle, { crypto: await crypto });
  if (own.checks.schema !== "pass") return undefined;
  const evidence = evidenceOf(bundleId(signedPart(parseBundle(bundle))), items);
  return withEvidence(own, bundle, evidence);
}

import { bundleId, parseBundle, signedPart, verify } from "@attestd/proof";
import { equalBytes, toBase64 } from "@attestd/proof/encoding";
import { type AlgorandInclusionItem, authorisationItem, withEvidence } from "@attestd/proof/evidence";
import { checkStateProof } from "@attestd/proof/state-proof";
import { paysetProver, readAlgorandHeader } from "../../chains/algorand/block-work.ts";
import { serviceCrypto, trusting } from "../../lib/crypto/crypto.ts";
import { evidenceOf, recordItem } from "./evidence-file.ts";
import type { Inclusion, KeptStateProof, Sought } from "./journal.ts";

/* The costly part of collecting evidence: functions of bytes and JSON alone, for a thread of their own (`block-worker.ts`). */

/** No evidence rests on the signature of a bundle, which was verified when it was made. */
const crypto = serviceCrypto().then(trusting);

/** What a block shows: how each of what was looked for stands in it, in that order, undefined of what does not. */
export type Included = { headerBase64: string; found: ({ inclusion?: Inclusion } | undefined)[] };

/**
 * Shows in a round's block that records or sources stand there: by the way to the header's root, so that nothing of their bundles
 * is needed. Of a source, also that it is the block that was attested.
 *
 * @param block `{block, cert}` in msgpack, as a node gave it
 * @param canary the JSON of the bundle whose record is the first: it is verified as any verifier of the evidence will do it, but
 *   for the bundle's signature. Where it does not verify, nothing is shown
 * @throws ProofError `malformed` when this is no block of that round
 */
export async function include(
  block: Uint8Array,
  round: number,
  sought: readonly Sought[],
  canary?: string,
): Promise<Included> {
  const { header, blockHash } = readAlgorandHeader(block, round);
  const headerBase64 = toBase64(header);
  const found = sought.map(({ txnId, blockHash: attested = blockHash }) => {
    if (attested !== blockHash) return undefined;
    if (txnId === undefined) return {};
    const place = proverOf(block)(txnId);
    if (place.kind !== "transaction" || place.inclusion.tree !== "txn256") return undefined;
    const { index, stibBase64, siblings } = place.inclusion;
    return { inclusion: { index, stibBase64, siblings } };
  });
  const first = found[0]?.inclusion;
  const isRight = canary === undefined || !first || (await verifies(canary, recordItem(headerBase64, first)));
  return { headerBase64, found: isRight ? found : found.map(() => undefined) };
}

/** The last block and its tree: all that stands in one block is shown by it, some at a time. */
let last: { block: Uint8Array; prove: ReturnType<typeof paysetProver> } | undefined;

function proverOf(block: Uint8Array): ReturnType<typeof paysetProver> {
  const isKnown = last && (last.block === block || equalBytes(last.block, block));
  if (!last || !isKnown) last = { block, prove: paysetProver(block) };
  return last.prove;
}

async function verifies(bundle: string, inclusion: AlgorandInclusionItem): Promise<boolean> {
  const own = verify(bundle, { crypto: await crypto });
  if (own.checks.schema !== "pass") return false;
  const authorisation = authorisationItem(inclusion);
  const items = [inclusion, ...(authorisation ? [authorisation] : [])];
  const { evidence } = withEvidence(own, bundle, evidenceOf(bundleId(signedPart(parseBundle(bundle))), items));
  return evidence?.inclusion === "pass" && evidence.authorisation !== "fail";
}

/** Verifies a state proof on its checkpoint. @returns why it is none, or undefined */
export function judge(content: Uint8Array, { message, checkpoint }: KeptStateProof): string | undefined {
  return checkStateProof(content, message, checkpoint);
}

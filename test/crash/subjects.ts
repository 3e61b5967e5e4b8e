import type { Sandbox } from "@attestd/sandbox";
import { algorandSources, baseSources } from "../e2e/many-sources.ts";

/** The subjects of attestations, each with its own route. */
export const SUBJECTS = ["transaction", "block", "inclusion", "batch"] as const;
export type SubjectName = (typeof SUBJECTS)[number];

/** A paid route and a request body for it. */
export type Request = { path: string; body: object };

type SourceName = "algorand" | "base";

/** Transactions of a batch: the least whose tree has two levels, and whose last leaf has a shorter path. */
const BATCH_ITEMS = 3;
/** The batches of a sandbox, whose transactions are made once. */
const batches = new WeakMap<Sandbox, Partial<Record<SourceName, Promise<string[]>>>>();

/**
 * A request for the sample of a chain, or for a batch of transactions of it. What is on Base can be paid on every rail.
 * @param source another transaction than the sample, the first of a batch
 */
export async function requestFor(
  sandbox: Sandbox,
  subject: SubjectName,
  chain: SourceName = "base",
  source: { txId: string; height: number } | undefined = undefined,
): Promise<Request> {
  const { sampleTransactions: sample } = sandbox;
  const ofSample = { txId: sample[chain], height: chain === "base" ? sample.baseHeight : sample.algorandHeight };
  const { txId, height } = source ?? ofSample;
  switch (subject) {
    case "transaction":
      return { path: "/attest", body: { txid: txId } };
    case "block":
      return { path: "/attest-block", body: { chain, height } };
    case "inclusion":
      return { path: "/prove-tx-inclusion", body: { chain, txId, height } };
    case "batch": {
      const known = batches.getOrInsertComputed(sandbox, () => ({}));
      known[chain] ??= (chain === "base" ? baseSources : algorandSources)(sandbox, BATCH_ITEMS);
      const txids = [...(source ? [txId] : []), ...(await known[chain])];
      return { path: "/attest-batch", body: { items: txids.map((txid) => ({ txid })) } };
    }
  }
}

import { createHash } from "node:crypto";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { BatchAnswerItem, BatchHead, BatchStatement } from "@attestd/proof";
import { batchStatementLeaf, batchTree, encodeNote, paymentCommitment } from "@attestd/proof/attestor";
import { toBase64 } from "@attestd/proof/encoding";
import { canonicalize } from "@attestd/proof/json";
import type { SealedItem } from "../attestor/attestor.ts";
import { isSourceError, type SourceChains } from "../chains/chain.ts";
import { maxSourceBytes } from "../chains/several.ts";
import { hasCode } from "../lib/errors.ts";
import { Problem, type ProblemCode, problemFor } from "../lib/problems.ts";
import { beforeIdOf } from "./batch-answer.ts";
import type { BatchReader } from "./batch-reader.ts";
import type {
  BatchEvidence,
  BatchItemEvidence,
  BatchItems,
  BundleOf,
  Product,
  TransactionEvidence,
} from "./product.ts";
import type { SubjectOf } from "./subject.ts";
import { sourceNamed, transactionEvidence, transactionIn } from "./transaction-evidence.ts";

/** The number of items after which other work gets its turn: a few milliseconds of hashes and JSON. */
const MAX_IN_A_SLICE = 50;

const NONCE_BYTES = 16;

/**
 * Why an item cannot be attested because of the item itself, most serious first: reasons that are permanent, then those
 * that a repeat may change.
 */
export const ITEM_FAULTS = [
  "source_wrong_chain",
  "source_inner_transaction",
  "source_too_large",
  "source_not_kept",
  "source_not_found",
  "transaction_failed",
  "source_not_final",
] as const satisfies readonly ProblemCode[];

/** Every reason why an item cannot be attested now. The last one is caused by the nodes. */
const GRAVITY: readonly ProblemCode[] = [...ITEM_FAULTS, "providers_conflict"];

/** An item that cannot be attested; `index`: its index in the request. */
type Refused = { index: number; code: ProblemCode; retryAfter?: number };

/** The attestation of many transactions (BatchHead, and a proof for each). @param random for nonces */
export function batchProduct(
  chains: SourceChains,
  reader: BatchReader,
  random: (bytes: number) => Uint8Array,
): Product<SubjectOf<"batch">, BatchEvidence> {
  return {
    async evidence(batch, signal) {
      const found = await reader.read(batch, signal).catch((error: unknown) => {
        if (!hasCode(error, "sources_too_large")) throw error;
        const code = "source_too_large";
        const items = batch.items.flatMap(({ id }, index) =>
          error.details.txnIds.includes(id) ? [{ index, code }] : [],
        );
        const size = batch.items.length;
        const detail = `A batch of ${size} may have ${maxSourceBytes(size)} bytes of transactions, and ${error.message}. Nothing was charged: attest the largest alone.`;
        throw new Problem(code, detail, { members: { items } });
      });
      const refused: Refused[] = [];
      const judged = await mapInSlices(found, (one, index): TransactionEvidence | undefined => {
        const { chain } = batch.items[index] as { chain: string };
        try {
          if (isSourceError(one)) throw one;
          return transactionEvidence(sourceNamed(chains, chain), one, batch.require);
        } catch (error) {
          refused.push({ index, ...reasonOf(error) });
          return undefined;
        }
      });
      if (refused.length > 0) throw refusal(refused, batch.items.length);
      const nonces = random(NONCE_BYTES * found.length);
      const items = judged.flatMap((one, index): BatchItemEvidence[] => {
        if (!one) return [];
        const { kind: _, ...members } = one;
        return [{ ...members, nonce: toBase64(nonces.subarray(NONCE_BYTES * index, NONCE_BYTES * (index + 1))) }];
      });
      return { kind: "batch", root: (await treeOf(items)).root.toHex(), size: items.length, items };
    },

    note({ root, size }, { keySha256, ledger, paymentKey }) {
      return encodeNote({ a: keySha256, g: ledger, p: paymentCommitment(paymentKey), r: root, z: size });
    },

    bundle({ root, size }, { attest, attestor }) {
      const members = { size, root: toBase64(Uint8Array.fromHex(root)), attest, attestor };
      return { type: "batch-attestation", version: 1, network: "algorand-mainnet", ...members };
    },

    sources: () => [],

    async answer({ root }, { id, body }, items) {
      const tree = await treeOf(items);
      if (tree.root.toHex() !== root) throw new Error("the evidence of a batch is not what its note has recorded");
      const head = canonicalize(JSON.parse(body) as BatchHead);
      // An item bundle's id is the hash of its canonical JSON, whose first member is the head.
      const hash = createHash("sha256").update(beforeIdOf(head));
      const sources: BundleOf[] = [];
      const sealed = await mapInSlices(items, (item, index): SealedItem => {
        sources.push(transactionIn(item));
        const text = canonicalize(answerItem(item, index, tree.path(index)));
        return { id: hash.copy().update(text.slice(1)).digest("base64url"), text };
      });
      return { bundle: { id, body: head, items: sealed }, sources };
    },
  };
}

/** Makes an item of the answer. @param path from its leaf to the root */
function answerItem(item: BatchItemEvidence, index: number, path: readonly Uint8Array[]): BatchAnswerItem {
  const source = { ...item.source, chain: item.chain };
  const proof = { index, siblings: path.map(toBase64) };
  return { type: "batch-item", version: 1, network: "algorand-mainnet", source, statement: statementOf(item), proof };
}

function statementOf({ caip2, source, block, level, succeeded, nonce }: BatchItemEvidence): BatchStatement {
  const { txnId, hashSha256 } = source;
  const outcome = succeeded === undefined ? "not_applicable" : succeeded ? "succeeded" : "failed";
  const { hash, height, time } = block;
  return { type: "transaction", chain: caip2, txnId, hashSha256, block: { hash, height, time }, level, outcome, nonce };
}

async function treeOf(items: BatchItems) {
  return batchTree(await mapInSlices(items, (item) => batchStatementLeaf(statementOf(item))));
}

/** @throws the error when it says nothing about the item */
function reasonOf(error: unknown): Omit<Refused, "index"> {
  const problem = problemFor(error);
  if (!problem) throw error;
  const { code, retryAfter } = problem;
  return { code, ...(retryAfter !== undefined && { retryAfter }) };
}

/** Makes the problem of a batch, from its most serious item. @param size of the batch */
function refusal(refused: readonly Refused[], size: number): Problem {
  const [code] = GRAVITY.filter((one) => refused.some((item) => item.code === one));
  if (!code) throw new Error(`there is no order for ${refused[0]?.code}`);
  const counts = [...Map.groupBy(refused, (item) => item.code)].map(([reason, those]) => `${those.length} ${reason}`);
  const waits = refused.flatMap((item) => (item.code === code && item.retryAfter ? [item.retryAfter] : []));
  const detail = `${refused.length} of ${size} transactions cannot be attested (${counts.join(", ")}): \`items\` names each.`;
  return new Problem(code, detail, {
    ...(waits.length > 0 && { retryAfter: Math.max(...waits) }),
    members: { items: refused.map(({ index, code }) => ({ index, code })) },
  });
}

/**
 * Maps a long list in slices, so that the event loop is not blocked.
 * @param map takes a fraction of a millisecond
 */
async function mapInSlices<T, R>(
  items: Iterable<T> | AsyncIterable<T>,
  map: (item: T, index: number) => R,
): Promise<R[]> {
  const mapped: R[] = [];
  for await (const item of items) {
    const index = mapped.length;
    if (index > 0 && index % MAX_IN_A_SLICE === 0) await nextTurn();
    mapped.push(map(item, index));
  }
  return mapped;
}

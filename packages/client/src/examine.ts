import {
  type BatchItem,
  type Bundle,
  type BundleBlock,
  chainOf,
  itemBundles,
  nobleCrypto,
  ProofError,
  parseBatch,
  parseBundle,
  rememberingLast,
  type Trust,
  type VerifyReport,
  verify,
} from "@attestd/proof";
import { utf8 } from "@attestd/proof/encoding";
import type { Call } from "./call.ts";
import { AttestError } from "./errors.ts";
import type { BatchRequest, PaidRequest } from "./request.ts";

/**
 * Reads and verifies a delivered bundle, and returns it with its report even if verification fails.
 * @param bytes JSON in UTF-8
 * @throws AttestError `paid_unfinished` when they are not a bundle, or a bundle for another request
 */
export function examine(
  bytes: Uint8Array,
  { id, request }: Pick<Call, "id" | "request">,
  { trust, historyAge = 0 }: { trust?: Trust; historyAge?: number },
): { bundle: Bundle; report: VerifyReport } {
  const examined = readOrFail(id, "a bundle", () => {
    return { report: verify(bytes, { trust, historyAge }), bundle: parseBundle(bytes) };
  });
  const other = difference(examined.bundle, request);
  if (other === undefined) return examined;
  throw new AttestError("paid_unfinished", `The service's bundle is for another ${other}.`, { paymentId: id });
}

/**
 * Reads a batch's answer, and verifies every item by itself.
 * @param bytes JSON in UTF-8
 * @returns the items in the request's order, including those that fail verification
 * @throws AttestError `paid_unfinished` when they are not a batch, or a batch for another request
 */
export function examineBatch(
  bytes: Uint8Array,
  { id, request }: Pick<Call, "id"> & { request: BatchRequest },
  { trust, historyAge = 0 }: { trust?: Trust; historyAge?: number },
): { bundle: BatchItem; report: VerifyReport; bundleBytes: Uint8Array }[] {
  const { items: wanted } = request.body;
  const items = readOrFail(id, "a batch", () => itemBundles(parseBatch(bytes)));
  if (items.length !== wanted.length) {
    const message = `The service's batch has ${items.length} items instead of ${wanted.length}.`;
    throw new AttestError("paid_unfinished", message, { paymentId: id });
  }
  const crypto = rememberingLast(nobleCrypto);
  return items.map((bundle, index) => {
    const txid = wanted[index]?.txid;
    if (bundle.source.txnId !== txid) {
      const message = `Item ${index} of the service's batch is for another transaction, ${bundle.source.txnId}.`;
      throw new AttestError("paid_unfinished", message, { paymentId: id });
    }
    const bundleBytes = utf8(JSON.stringify(bundle));
    const report = readOrFail(id, "a batch", () => verify(bundleBytes, { trust, historyAge, crypto }));
    return { bundle, report, bundleBytes };
  });
}

function readOrFail<T>(paymentId: string, what: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    const where = cause instanceof ProofError && cause.pointer !== "" ? `${cause.pointer} ` : "";
    const message = `The service's answer is not ${what}: ${where}${(cause as Error).message}.`;
    throw new AttestError("paid_unfinished", message, { paymentId, cause });
  }
}

/** Returns the first difference between a bundle and the request; undefined when there is none. */
function difference(bundle: Bundle, { path, body }: PaidRequest): string | undefined {
  switch (path) {
    case "/attest":
      if ("type" in bundle) return `kind, ${bundle.type}`;
      return bundle.source.txnId === body.txid ? undefined : `transaction, ${bundle.source.txnId}`;
    case "/attest-batch":
      // A batch's answer has another form: see `examineBatch`.
      return "kind";
    case "/attest-block":
      if (!("type" in bundle) || bundle.type !== "block-attestation") return "kind";
      return otherBlock(bundle.block, body);
    case "/prove-tx-inclusion":
      if (!("type" in bundle) || bundle.type !== "tx-inclusion") return "kind";
      if (bundle.source.txnId !== body.txId) return `transaction, ${bundle.source.txnId}`;
      return otherBlock(bundle.block, { chain: chainOf(bundle).name, height: body.height });
  }
}

function otherBlock(block: BundleBlock, { chain, height }: { chain: string; height: number }): string | undefined {
  return block.chain === chain && block.height === height ? undefined : `block, ${block.height} of ${block.chain}`;
}

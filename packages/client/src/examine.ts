import {
  type Bundle,
  type BundleBlock,
  chainOf,
  ProofError,
  parseBundle,
  type Trust,
  type VerifyReport,
  verify,
} from "@attestd/proof";
import { AttestError } from "./errors.ts";
import type { Call } from "./pay.ts";
import type { PaidRequest } from "./request.ts";

/**
 * Reads and verifies a delivered bundle, and returns it with its report even if it fails verification.
 * @param bytes JSON in UTF-8
 * @throws AttestError `paid_unfinished` when they are no bundle, or one for another request
 */
export function examine(
  bytes: Uint8Array,
  { id, request }: Pick<Call, "id" | "request">,
  { trust, historyAge = 0 }: { trust?: Trust; historyAge?: number },
): { bundle: Bundle; report: VerifyReport } {
  let examined: ReturnType<typeof examine>;
  try {
    examined = { report: verify(bytes, { trust, historyAge }), bundle: parseBundle(bytes) };
  } catch (cause) {
    const where = cause instanceof ProofError && cause.pointer !== "" ? `${cause.pointer} ` : "";
    const message = `The service's answer is not a bundle: ${where}${(cause as Error).message}.`;
    throw new AttestError("paid_unfinished", message, { paymentId: id, cause });
  }
  const other = difference(examined.bundle, request);
  if (other === undefined) return examined;
  throw new AttestError("paid_unfinished", `The service's bundle is of another ${other}.`, { paymentId: id });
}

/** The first difference of a bundle from the request; undefined when there is none. */
function difference(bundle: Bundle, { path, body }: PaidRequest): string | undefined {
  switch (path) {
    case "/attest":
      if ("type" in bundle) return `kind, ${bundle.type}`;
      return bundle.source.txnId === body.txid ? undefined : `transaction, ${bundle.source.txnId}`;
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

import {
  type Bundle,
  type BundleBlock,
  chainOf,
  parseBundle,
  parseJson,
  type Trust,
  type VerifyReport,
  verify,
} from "@attestd/proof";
import { AttestError } from "./errors.ts";
import type { Call } from "./pay.ts";
import type { PaidRequest } from "./request.ts";

export type Examined = {
  bundle: Bundle;
  /** What our own verification says; nothing of it is the service's word. */
  report: VerifyReport;
};

/**
 * Reads and verifies what the service delivered. A bundle that does not verify is still the caller's to keep and to
 * judge by the report; what is no bundle, or one of something else, is not what was paid for.
 *
 * @param bytes JSON in UTF-8
 * @throws AttestError `paid_unfinished`
 */
export function examine(
  bytes: Uint8Array,
  { id, request }: Pick<Call, "id" | "request">,
  { trust, historyAge = 0 }: { trust?: Trust; historyAge?: number },
): Examined {
  let examined: Examined;
  try {
    examined = { report: verify(bytes, { trust, historyAge }), bundle: parseBundle(parseJson(bytes)) };
  } catch (cause) {
    throw new AttestError("paid_unfinished", `The service's answer is not a bundle: ${(cause as Error).message}.`, {
      paymentId: id,
      cause,
    });
  }
  const what = difference(examined.bundle, request);
  if (what === undefined) return examined;
  throw new AttestError("paid_unfinished", `The service's bundle is of another ${what}.`, { paymentId: id });
}

/** In what a bundle is not of what was asked for; undefined where it is. */
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

import { type ProofBundle, parseJson, parseProofBundle, type Trust, type VerifyReport, verify } from "@attestd/proof";
import { AttestError } from "./errors.ts";
import type { Call } from "./pay.ts";

export type Examined = {
  bundle: ProofBundle;
  /** What our own verification says; nothing of it is the service's word. */
  report: VerifyReport;
};

/**
 * Reads and verifies what the service delivered. A bundle that does not verify is still the caller's to keep and to
 * judge by the report; what is no bundle, or one of another transaction, is not what was paid for.
 *
 * @param bytes JSON in UTF-8
 * @throws AttestError `paid_unfinished`
 */
export function examine(
  bytes: Uint8Array,
  { id, request }: Pick<Call, "id" | "request">,
  trust: Trust | undefined,
): Examined {
  let examined: Examined;
  try {
    examined = { report: verify(bytes, { trust }), bundle: parseProofBundle(parseJson(bytes)) };
  } catch (cause) {
    throw new AttestError("paid_unfinished", `The service's answer is not a bundle: ${(cause as Error).message}.`, {
      paymentId: id,
      cause,
    });
  }
  const { txnId } = examined.bundle.source;
  if (txnId === request.txid) return examined;
  throw new AttestError("paid_unfinished", `The service's bundle is of another transaction, ${txnId}.`, {
    paymentId: id,
  });
}

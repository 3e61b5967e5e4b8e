import { type BundleType, isProofError, type KeyHistory, mayAskChain, verify } from "@attestd/proof";
import { fromBase64 } from "@attestd/proof/encoding";
import { readMessage } from "../api/endpoints/messages.ts";
import { serviceCrypto } from "../lib/crypto/crypto.ts";
import { answerJobs } from "../lib/workers/worker.ts";
import { claimsIn } from "./claims.ts";
import type { PoolJob, VerifiedOffline } from "./worker-pool.ts";

const crypto = await serviceCrypto();
let trust: KeyHistory | undefined;

const JOBS: Record<PoolJob, (body: Uint8Array, how: never) => unknown> = { verify: verifyBundle, readMessage };

answerJobs(
  (name, [body, how]) => JOBS[name as PoolJob](body as Uint8Array, how as never),
  (history) => {
    trust = history as KeyHistory;
    crypto.pin(trust.keys.map(({ pqPublicKey }) => fromBase64(pqPublicKey)));
  },
  // `readMessage` writes the bundle of a message to its own buffer.
  (value) => {
    const { bundle } = value as { bundle?: unknown };
    return bundle instanceof Uint8Array ? [bundle.buffer as ArrayBuffer] : [];
  },
);

function verifyBundle(
  body: Uint8Array,
  { types, asksChain }: { types: readonly BundleType[]; asksChain: boolean },
): VerifiedOffline {
  try {
    const report = verify(body, { trust, crypto, type: types });
    return { report, ...(asksChain && mayAskChain(report) && { claims: claimsIn(body, report) }) };
  } catch (error) {
    if (isProofError(error, "json")) return { notJson: error.message };
    throw error;
  }
}

import { createPublicKey } from "node:crypto";
import { excerpt } from "@attestd/proof/text";
import { ServiceError, type SignerFailure } from "../lib/errors.ts";
import type { Algorithm, KeyUse } from "./signer.ts";

/** The settings that name keys in a key management service. */
export const KMS_SETTINGS = { pq: "attestor.kms_key", account: "attestor.kms_account_key" } as const satisfies Record<
  KeyUse,
  string
>;

/** The algorithms that such a service has; none has Falcon. Node uses the same names. */
export const KMS_ALGORITHMS = { pq: "ml-dsa-65", account: "ed25519" } as const satisfies Record<KeyUse, Algorithm>;

/** The limit of an answer, in bytes: a signature or a public key takes 5 kB in base64. */
export const MAX_ANSWER_BYTES = 65_536;

/** The limit of a message, which may repeat a provider's answer, in characters. */
const MAX_MESSAGE = 400;

/**
 * Makes the error for a failed signer. The error of a provider's client is not its cause, because it contains the
 * request with its credentials.
 * @param message without the name of the signer, which the guard adds
 */
export function signerFailed(failure: SignerFailure, message: string): ServiceError<"signer_failed"> {
  return new ServiceError("signer_failed", excerpt(message, MAX_MESSAGE), { details: { failure } });
}

/**
 * Reads the raw public key from a SubjectPublicKeyInfo.
 * @param spki its DER (RFC 5280, RFC 9881, RFC 8410), or PEM
 * @throws signer_failed `wrong` when it is not a key for this use
 */
export function rawPublicKey(use: KeyUse, spki: Uint8Array | string): Uint8Array {
  const wanted = KMS_ALGORITHMS[use];
  try {
    const key =
      typeof spki === "string"
        ? createPublicKey(spki)
        : createPublicKey({ key: Buffer.from(spki), format: "der", type: "spki" });
    if (key.asymmetricKeyType !== wanted) throw new RangeError(`a public key of ${key.asymmetricKeyType}`);
    return new Uint8Array(key.export({ format: "raw-public" }));
  } catch (error) {
    throw signerFailed("wrong", `gave ${(error as Error).message} instead of a public key of ${wanted}`);
  }
}

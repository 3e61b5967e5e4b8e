import { createPublicKey, verify } from "node:crypto";
import { ProofError } from "@attestd/proof";
import { decodeAddress, getBytes, getInteger, type MsgpackMap, type MsgpackValue } from "@attestd/proof/algorand";
import { concatBytes, equalBytes, utf8 } from "@attestd/proof/encoding";
import { sha512_256 } from "@noble/hashes/sha2.js";

const TX = utf8("TX");
const MULTISIG_ADDRESS = utf8("MultisigAddr");

/** An ed25519 signature to verify (RFC 8032). */
export interface SignatureCheck {
  publicKey: Uint8Array;
  signature: Uint8Array;
  message: Uint8Array;
}

/** Whether the signature is valid. It is not for a public key that is not a point, such as an application's address. */
export function isValidSignature({ publicKey, signature, message }: SignatureCheck): boolean {
  try {
    const key = createPublicKey({
      key: { kty: "OKP", crv: "Ed25519", x: Buffer.from(publicKey).toString("base64url") },
      format: "jwk",
    });
    return verify(null, message, key, signature);
  } catch {
    return false;
  }
}

/** The signed bytes of a transaction: `"TX"` and its canonical msgpack. */
export function signedMessage(transactionBytes: Uint8Array): Uint8Array {
  return concatBytes(TX, transactionBytes);
}

/**
 * The signatures of a multisignature, which must all be valid.
 * @param multisig the envelope's `msig`: `{subsig: [{pk, s?}], thr, v}`
 * @param authorizer the address of its keys and threshold
 * @throws ProofError `malformed` with go-algorand's message when it is malformed (`crypto/multisig.go`)
 */
export function multisigChecks(multisig: MsgpackMap, authorizer: string, message: Uint8Array): SignatureCheck[] {
  const version = Number(getInteger(multisig, "v"));
  const threshold = Number(getInteger(multisig, "thr"));
  const parts = (multisig.get("subsig") ?? []) as MsgpackValue;
  if (!Array.isArray(parts)) throw new ProofError("malformed", "Invalid number of signatures");
  const keys = parts.map((part) => ({ publicKey: memberOf(part, "pk", 32), signature: memberOf(part, "s", 64) }));
  if (version !== 1) throw new ProofError("malformed", "Invalid version");
  if (threshold === 0 || keys.length === 0 || threshold > keys.length || keys.length > 255)
    throw new ProofError("malformed", "Invalid threshold");
  const publicKeys = keys.map(({ publicKey }) => publicKey ?? new Uint8Array(32));
  const address = sha512_256(concatBytes(MULTISIG_ADDRESS, Uint8Array.of(version, threshold), ...publicKeys));
  if (!equalBytes(address, decodeAddress(authorizer))) throw new ProofError("malformed", "Invalid address");
  const checks = keys.flatMap(({ signature }, index) =>
    signature === undefined ? [] : [{ publicKey: publicKeys[index] as Uint8Array, signature, message }],
  );
  if (checks.length < threshold) throw new ProofError("malformed", "Invalid number of signatures");
  return checks;
}

function memberOf(part: MsgpackValue, name: string, length: number): Uint8Array | undefined {
  if (!(part instanceof Map)) throw new ProofError("malformed", "Invalid number of signatures");
  return getBytes(part, name, length);
}

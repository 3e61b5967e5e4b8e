import { encodeAddress, getBytes, getInteger, type MsgpackMap } from "@attestd/proof/algorand";
import { concatBytes, fromUtf8, utf8 } from "@attestd/proof/encoding";
import { sha512_256 } from "@noble/hashes/sha2.js";
import { falcon1024 } from "@noble/post-quantum/falcon.js";
import { Rejection } from "./rejection.ts";

const ADDRESS = utf8("PQA");
const SCHEME = "f1";

/** First byte of a compressed signature: deterministic on Algorand, and as in the Falcon submission. */
const DETERMINISTIC_HEADER = 0xba;
const STANDARD_HEADER = 0x3a;

/** A deterministic signature has only the first byte of its 40-byte salt; log₂ of the degree and this follow, then zeros. */
const SALT_REST = [10, ...utf8("FALCON_DET")];
const SALT_BYTES = 40;

/**
 * Checks a post-quantum signature of a transaction (go-algorand, `data/transactions/pqsig.go`).
 * @param signature the envelope's `pqsig`: `{sch, slt, pk, sig}`
 * @param authorizer the address that follows from scheme, salt and key
 * @param message the signed bytes
 * @throws Rejection with go-algorand's message
 */
export function checkFalconSignature(signature: MsgpackMap, authorizer: string, message: Uint8Array): void {
  const scheme = getBytes(signature, "sch", 2) ?? new Uint8Array(2);
  const publicKey = getBytes(signature, "pk") ?? new Uint8Array();
  const salt = Number(getInteger(signature, "slt"));
  if (fromUtf8(scheme) !== SCHEME) throw new Rejection("pq signature scheme not supported");
  const derived = encodeAddress(sha512_256(concatBytes(ADDRESS, scheme, Uint8Array.of(salt), publicKey)));
  if (derived !== authorizer)
    throw new Rejection(`pq signature authorizer mismatch: derived ${derived}, expected ${authorizer}`);
  const bytes = getBytes(signature, "sig");
  if (bytes === undefined) throw new Rejection("pq signature is empty");
  if (!isValid(bytes, message, publicKey)) throw new Rejection("invalid falcon-1024 signature");
}

/** Verifies the deterministic form (github.com/algorand/falcon, `deterministic.c`) by the standard one, with its whole salt. */
function isValid(signature: Uint8Array, message: Uint8Array, publicKey: Uint8Array): boolean {
  const [header, version] = signature;
  if (header !== DETERMINISTIC_HEADER || version === undefined) return false;
  const salt = new Uint8Array(SALT_BYTES);
  salt.set([version, ...SALT_REST]);
  try {
    const standard = concatBytes(Uint8Array.of(STANDARD_HEADER), salt, signature.subarray(2));
    return falcon1024.verify(standard, message, publicKey);
  } catch {
    return false;
  }
}

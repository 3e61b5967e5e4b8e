import { encodeAddress, getBytes, getInteger, type MsgpackMap } from "@attestd/proof/algorand";
import { fromUtf8 } from "@attestd/proof/encoding";
import { FALCON_SCHEME, falconAccount, verifyFalcon } from "@attestd/proof/falcon";
import { Rejection } from "./rejection.ts";

/**
 * Checks a transaction's post-quantum signature (go-algorand, `data/transactions/pqsig.go`).
 * @param signature the envelope's `pqsig`: `{sch, slt, pk, sig}`
 * @param authorizer the address that follows from scheme, salt and key
 * @param message the signed bytes
 * @throws Rejection with go-algorand's message
 */
export function checkFalconSignature(signature: MsgpackMap, authorizer: string, message: Uint8Array): void {
  const scheme = getBytes(signature, "sch", 2) ?? new Uint8Array(2);
  const publicKey = getBytes(signature, "pk") ?? new Uint8Array();
  const salt = Number(getInteger(signature, "slt"));
  if (fromUtf8(scheme) !== FALCON_SCHEME) throw new Rejection("pq signature scheme not supported");
  const derived = encodeAddress(falconAccount(salt, publicKey));
  if (derived !== authorizer)
    throw new Rejection(`pq signature authorizer mismatch: derived ${derived}, expected ${authorizer}`);
  const bytes = getBytes(signature, "sig");
  if (bytes === undefined) throw new Rejection("pq signature is empty");
  if (!verifyFalcon(publicKey, message, bytes)) throw new Rejection("invalid falcon-1024 signature");
}

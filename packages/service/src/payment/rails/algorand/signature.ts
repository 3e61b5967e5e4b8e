import { hash } from "node:crypto";
import { multisigAccount, signedMessage } from "@attestd/proof/algorand";
import { concatBytes, equalBytes, utf8 } from "@attestd/proof/encoding";
import { isEd25519Signature } from "../../../lib/crypto/ed25519.ts";
import type { Envelope, LogicSig, Multisig } from "./envelope.ts";

/** Prefixes of signed and hashed bytes (go-algorand, `protocol/hash.go`). */
const PROGRAM = utf8("Program");
const MULTISIG_PROGRAM = utf8("MsigProgram");

/**
 * Whether the signature is the claimed signer's. Only the ledger knows whether that address may sign for the sender,
 * and whether a program accepts the transaction.
 * @param bytes canonical msgpack of the unsigned transaction
 */
export function isSignedByAuthorizer(envelope: Envelope, bytes: Uint8Array): boolean {
  const { authorizer } = envelope;
  switch (envelope.kind) {
    case "sig":
      return isEd25519Signature(authorizer, signedMessage(bytes), envelope.signature);
    case "msig":
      return isMultisignature(authorizer, signedMessage(bytes), envelope.multisig);
    case "lsig":
      return isProgramOf(authorizer, envelope.logic);
  }
}

/** Whether the account is the program's own, or has delegated its signature to the program. */
function isProgramOf(address: Uint8Array, { program, delegation }: LogicSig): boolean {
  const signed = concatBytes(PROGRAM, program);
  switch (delegation?.kind) {
    case undefined:
      return equalBytes(hash("sha512-256", signed, "buffer"), address);
    case "sig":
      return isEd25519Signature(address, signed, delegation.signature);
    case "msig":
      return isMultisignature(address, signed, delegation.multisig);
    case "lmsig":
      return isMultisignature(address, concatBytes(MULTISIG_PROGRAM, address, program), delegation.multisig);
  }
}

/** Whether the keys make the address, at least `threshold` of them have signed, and every signature is valid. */
function isMultisignature(address: Uint8Array, message: Uint8Array, { threshold, parts }: Multisig): boolean {
  const keys = parts.map(({ publicKey }) => publicKey);
  if (!equalBytes(multisigAccount(threshold, keys), address)) return false;
  const signed = parts.filter(({ signature }) => signature !== undefined);
  return (
    signed.length >= threshold &&
    signed.every(({ publicKey, signature }) => isEd25519Signature(publicKey, message, signature as Uint8Array))
  );
}

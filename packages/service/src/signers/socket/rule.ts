import { ProofError } from "@attestd/proof";
import { equalBytes, fromUtf8 } from "@attestd/proof/encoding";
import { isProbe } from "../probe.ts";
import type { KeyUse, SignedContext } from "../signer.ts";
import { type Attestor, type Form, Refusal } from "./forms.ts";
import { accountForm } from "./rule-account.ts";
import { bundleForm, endorsementForm, receiptForm } from "./rule-pq.ts";

/**
 * Decides whether these bytes may be signed with this key: only what the attestor itself signs, in its one spelling,
 * about this attestor on this ledger, and nothing else, whoever asks.
 * @throws Refusal
 */
export function formOf(use: KeyUse, message: Uint8Array, context: SignedContext, attestor: Attestor): Form {
  try {
    const text = asAscii(message);
    if (text !== undefined && isProbe(text)) return { form: "probe", about: text };
    if (use === "account") return accountForm(message, context, attestor);
    if (context.keyRecord) throw new Refusal("a key record is allowed only with a transaction");
    // "{": a document in RFC 8785; "e": the base64url of one.
    if (message[0] === 0x65) return receiptForm(fromUtf8(message), attestor);
    if (message[0] !== 0x7b) throw new Refusal("neither a bundle, nor a receipt, nor a key entry, nor a probe");
    return (isEntry(message) ? endorsementForm : bundleForm)(message, attestor);
  } catch (error) {
    if (error instanceof ProofError)
      throw new Refusal(`${error.pointer ?? ""} ${error.message}`.trim(), { cause: error });
    throw error;
  }
}

/** A key entry begins with its address, as RFC 8785 sorts its members; a bundle begins with `attest`. */
const ENTRY = new TextEncoder().encode('{"algorandAddress":');

function isEntry(message: Uint8Array): boolean {
  return equalBytes(message.subarray(0, ENTRY.length), ENTRY);
}

/** Decodes a short message. */
function asAscii(message: Uint8Array): string | undefined {
  if (message.length > 64 || message.some((byte) => byte > 0x7e)) return undefined;
  return String.fromCharCode(...message);
}

import { type BatchHead, nobleCrypto, parseJson, parseNote, verify, verifyPaymentReceipt } from "@attestd/proof";
import {
  encodeNote,
  keyEntryBytes,
  keyEntryHash,
  ML_DSA_65_SIGNATURE_LENGTH,
  parseBatchHead,
  parseKeyEntry,
  receiptSigningInput,
  signingBytes,
} from "@attestd/proof/attestor";
import { equalBytes, fromBase64, fromUtf8, toBase64, toBase64Url, toHex } from "@attestd/proof/encoding";
import { isObject } from "@attestd/proof/json";
import { trusting } from "../../lib/crypto/crypto.ts";
import { type Attestor, type Form, Refusal, requireRecord } from "./forms.ts";

/** Ignores the signature, because the examined bytes are not signed yet. */
const UNSIGNED = trusting(nobleCrypto);
const NO_SIGNATURE = new Uint8Array(ML_DSA_65_SIGNATURE_LENGTH);

/**
 * Accepts a bundle of any type, or a batch's head. A verifier that trusts only this key finds no fault but the missing
 * signature.
 */
export function bundleForm(message: Uint8Array, of: Attestor): Form {
  const value = parseJson(message);
  if (!isObject(value) || Object.hasOwn(value, "signature")) throw new Refusal("a bundle to sign has no signature yet");
  const bundle = { ...value, signature: { alg: "ML-DSA-65", sigBase64: toBase64(NO_SIGNATURE) } };
  if (!equalBytes(signingBytes(bundle as never), message)) throw new Refusal("the bundle is not in RFC 8785");
  if (value.type === "batch-attestation") requireNoteOfHead(parseBatchHead(bundle), of);
  else requireVerified(bundle, of);
  const { attestor, attest } = bundle as unknown as Record<"attestor" | "attest", Record<string, string>>;
  if (attestor.pqPublicKey !== of.pqPublicKey) throw new Refusal("the bundle names another key");
  if (attestor.algorandAddress !== of.algorandAddress) throw new Refusal("the bundle names another account");
  return { form: "bundle", about: attest.txnId as string };
}

function requireVerified(bundle: object, { kid, ledger }: Attestor): void {
  const { verified, failures } = verify(bundle, { trust: { kids: [kid], ledger }, crypto: UNSIGNED });
  const [failure] = failures;
  if (!verified)
    throw new Refusal(`the bundle fails ${failure?.check} ${failure?.pointer ?? ""} ${failure?.message ?? ""}`.trim());
}

/** Checks a head's note. A head has no items, so only what its note says about it can be compared. */
function requireNoteOfHead({ root, size, attest }: BatchHead, { keySha256, ledger }: Attestor): void {
  const note = parseNote(attest.note);
  const due = { a: keySha256, g: ledger, r: toHex(fromBase64(root)), z: size };
  if (!("r" in note) || encodeNote({ ...due, p: note.p }) !== attest.note)
    throw new Refusal("the batch's note does not fit this head, this key and this ledger");
}

/** @param input a JWS signing input */
export function receiptForm(input: string, { kid, pqPublicKey }: Attestor): Form {
  const receipt = verifyPaymentReceipt(`${input}.${toBase64Url(NO_SIGNATURE)}`, [pqPublicKey], UNSIGNED);
  if (receiptSigningInput(receipt, kid) !== input) throw new Refusal("the receipt is not in its canonical spelling");
  return { form: "receipt", about: receipt.transaction };
}

/** Accepts the entry of the next key, if this signer was started to endorse it. */
export function endorsementForm(message: Uint8Array, attestor: Attestor): Form {
  const entry = parseKeyEntry(fromUtf8(message));
  if (!equalBytes(keyEntryBytes(entry), message))
    throw new Refusal("the key entry is not in the form that is endorsed");
  if (entry.algorandAddress !== attestor.algorandAddress) throw new Refusal("the key entry names another account");
  if (entry.kid === attestor.kid) throw new Refusal("a key does not endorse itself");
  const record = keyEntryHash(entry);
  requireRecord(record, attestor.endorse, "--endorse");
  return { form: "endorsement", about: record };
}

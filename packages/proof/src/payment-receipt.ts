import { fromBase64, fromBase64Url, fromUtf8, toBase64Url, utf8 } from "./encoding.ts";
import { attempt, formatError } from "./errors.ts";
import { canonicalize } from "./json/canonical.ts";
import { parseJson } from "./json/parse.ts";
import { base64Url32Bytes, caip2, constant, integer, object, type Reader, string } from "./json/readers.ts";
import { type Crypto, ML_DSA_65_SIGNATURE_LENGTH, nobleCrypto, verifySignature } from "./signature.ts";
import { keyId } from "./trust.ts";

/** The attestor's statement that it was paid and has delivered: x402 extension `offer-receipt`, version 1, section 5.2. */
export type PaymentReceipt = {
  type: "x402-receipt";
  version: 1;
  /** CAIP-2 of the payment's chain. */
  network: string;
  /** The purchased resource: 1 to 8,000 bytes of UTF-8, a URL if our service wrote it. */
  resourceUrl: string;
  /** Address of the payer on the payment's chain: 1 to 128 characters of ASCII. */
  payer: string;
  /** Id of the payment's transaction on its chain: 1 to 128 characters of ASCII. */
  transaction: string;
  /** Unix seconds. */
  issuedAt: number;
};

/**
 * Returns the JWS signing input of a receipt (RFC 7515 section 5.1), ASCII. It begins with `e`, while every signed
 * document begins with `{` and a signer's probe with `a`, so that no signature fits two kinds.
 * @param kid thumbprint of the key that signs
 */
export function receiptSigningInput(receipt: PaymentReceipt, kid: string): string {
  return `${encode(canonicalize({ alg: "ML-DSA-65", kid }))}.${encode(canonicalize(receipt))}`;
}

/**
 * Reads a signed receipt and verifies its signature; it does not look the payment up on its chain.
 * @param jws `extensions["offer-receipt"].info.receipt.signature` of a PAYMENT-RESPONSE: compact, `alg` ML-DSA-65 (RFC
 *   9964)
 * @param pqPublicKeys the keys that may have signed it, raw, base64: a history's, or the purchased bundle's
 * @throws ProofError `format`, also when none of the keys signed it
 */
export function verifyPaymentReceipt(
  jws: string,
  pqPublicKeys: readonly string[],
  crypto: Pick<Crypto, "mldsa65"> = nobleCrypto,
): PaymentReceipt {
  const { kid, receipt, signed, signature } = readSigned(jws);
  const publicKey = pqPublicKeys.map(fromBase64).find((key) => keyId(key) === kid);
  if (!publicKey) throw formatError("/header/kid", "names no key that is trusted here");
  if (!verifySignature(publicKey, utf8(signed), signature, crypto)) throw formatError("/signature", "is not the key's");
  return receipt;
}

/**
 * Reads a receipt without verifying it: anyone may have written its statements.
 * @param jws as in `verifyPaymentReceipt`
 * @returns the receipt and the thumbprint of the key that it names
 * @throws ProofError `format`
 */
export function parsePaymentReceipt(jws: string): { kid: string; receipt: PaymentReceipt } {
  const { kid, receipt } = readSigned(jws);
  return { kid, receipt };
}

function readSigned(jws: string) {
  const [header = "", payload = "", signature = "", ...rest] = jws.split(".");
  if (rest.length > 0) throw formatError("", "must be a compact JWS: three parts");
  const { kid } = readHeader(decodeJson(header, "/header"), "/header");
  const receipt = readReceipt(decodeJson(payload, "/payload"), "/payload");
  const bytes = decode(signature, "/signature");
  if (bytes.length !== ML_DSA_65_SIGNATURE_LENGTH)
    throw formatError("/signature", `must be base64url of ${ML_DSA_65_SIGNATURE_LENGTH} bytes`);
  return { kid, receipt, signed: `${header}.${payload}`, signature: bytes };
}

const readHeader = object({ alg: constant("ML-DSA-65"), kid: base64Url32Bytes });

/** The longest URL that recipients must support (RFC 9110 section 4.1). */
const MAX_RESOURCE_BYTES = 8000;
const isResource = (text: string) => text !== "" && utf8(text).length <= MAX_RESOURCE_BYTES;
/** On every chain, addresses and transaction ids are printable ASCII. */
const asciiId = string("1 to 128 characters of ASCII, none of them a space or a control", /^[!-~]{1,128}$/);

const readReceipt: Reader<PaymentReceipt> = object({
  type: constant("x402-receipt"),
  version: constant(1),
  network: caip2,
  resourceUrl: string(`text of 1 to ${MAX_RESOURCE_BYTES} bytes`, isResource),
  payer: asciiId,
  transaction: asciiId,
  issuedAt: integer(0),
});

function encode(text: string): string {
  return toBase64Url(utf8(text));
}

function decode(part: string, pointer: string): Uint8Array {
  const bytes = attempt("malformed", () => fromBase64Url(part));
  if (bytes === undefined) throw formatError(pointer, "must be base64url");
  return bytes;
}

function decodeJson(part: string, pointer: string): unknown {
  const bytes = decode(part, pointer);
  // Reads text, because a receipt has no byte order mark, unlike a file.
  const value = attempt("json", () => parseJson(attempt("malformed", () => fromUtf8(bytes)) ?? ""));
  if (value === undefined) throw formatError(pointer, "must be JSON");
  return value;
}

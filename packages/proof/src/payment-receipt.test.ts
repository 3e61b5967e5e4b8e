import { createPublicKey, verify as nodeVerify } from "node:crypto";
import { describe, expect, it } from "vitest";
import { TEST_RECEIPT, testAttestor, testBundle, testHistory, testReceipt } from "../../../test/bundles/bundles.ts";
import { nativeCrypto } from "../test/native-crypto.ts";
import { signingBytes } from "./bundle.ts";
import { fromBase64, toBase64, toBase64Url, utf8 } from "./encoding.ts";
import { isProofError } from "./errors.ts";
import { receiptSigningInput, verifyPaymentReceipt } from "./payment-receipt.ts";
import { jwk, keyEntryBytes } from "./trust.ts";
import { verify } from "./verify.ts";

const attestor = testAttestor();
const pqPublicKey = toBase64(attestor.publicKey);
const receipt = TEST_RECEIPT;

/** Makes a JWS of any header and payload, correctly signed by the key. */
const signed = (payload?: object, header?: object) => testReceipt(attestor, payload, header);

function refusal(jws: string, keys = [pqPublicKey]): string {
  try {
    verifyPaymentReceipt(jws, keys, nativeCrypto);
  } catch (error) {
    if (isProofError(error, "format")) return error.pointer;
    throw error;
  }
  throw new Error("taken");
}

describe("a signed receipt", () => {
  const input = receiptSigningInput(receipt, attestor.kid);
  const jws = `${input}.${toBase64Url(attestor.sign(utf8(input)))}`;

  it("is read by its key, among others", () => {
    const other = toBase64(testAttestor("other").publicKey);
    expect(verifyPaymentReceipt(jws, [other, pqPublicKey], nativeCrypto)).toEqual(receipt);
    expect(verifyPaymentReceipt(jws, [pqPublicKey])).toEqual(receipt);
    expect(refusal(jws, [other])).toBe("/header/kid");
    expect(refusal(jws, [])).toBe("/header/kid");
  });

  it("is a JWS for whoever has the JWK", () => {
    const [header = "", payload = "", signature = ""] = jws.split(".");
    const key = createPublicKey({ key: jwk(attestor.publicKey), format: "jwk" });
    expect(nodeVerify(null, Buffer.from(`${header}.${payload}`), key, Buffer.from(signature, "base64url"))).toBe(true);
    expect(JSON.parse(Buffer.from(header, "base64url").toString())).toEqual({ alg: "ML-DSA-65", kid: attestor.kid });
    expect(JSON.parse(Buffer.from(payload, "base64url").toString())).toEqual(receipt);
  });

  it("has no byte order mark", () => {
    const [header = "", payload = ""] = jws.split(".");
    const marked = (part: string) => toBase64Url(utf8(`\ufeff${Buffer.from(part, "base64url")}`));
    const sign = (text: string) => `${text}.${toBase64Url(attestor.sign(utf8(text)))}`;
    expect(refusal(sign(`${marked(header)}.${payload}`))).toBe("/header");
    expect(refusal(sign(`${header}.${marked(payload)}`))).toBe("/payload");
  });

  it.each([
    ["another payer", { ...receipt, payer: "0x0" }],
    ["another transaction", { ...receipt, transaction: "0x0" }],
    ["another time", { ...receipt, issuedAt: 0 }],
  ])("does not stand for %s", (_, other) => {
    const [header, , signature] = jws.split(".");
    const payload = toBase64Url(utf8(JSON.stringify(other)));
    expect(refusal([header, payload, signature].join("."))).toBe("/signature");
  });

  it.each([
    ["another algorithm", signed(receipt, { alg: "EdDSA", kid: attestor.kid }), "/header/alg"],
    ["none", signed(receipt, { alg: "none", kid: attestor.kid }), "/header/alg"],
    [
      "a header that must be understood",
      signed(receipt, { alg: "ML-DSA-65", kid: attestor.kid, crit: [] }),
      "/header/crit",
    ],
    ["no type", signed({ ...receipt, type: undefined }), "/payload/type"],
    ["another type", signed({ ...receipt, type: "x402-offer" }), "/payload/type"],
    ["a member that is not known", signed({ ...receipt, amount: "1" }), "/payload/amount"],
    [
      "a URL longer than everybody has to read",
      signed({ ...receipt, resourceUrl: `https://a/${"a".repeat(8000)}` }),
      "/payload/resourceUrl",
    ],
    ["no JSON", `${toBase64Url(utf8("{"))}.${jws.split(".").slice(1).join(".")}`, "/header"],
    ["base64 with padding", `${jws}==`, "/signature"],
    ["four parts", `${jws}.`, ""],
    ["nothing", "", "/header"],
  ])("is refused with %s", (_, bad, pointer) => {
    expect(refusal(bad)).toBe(pointer);
  });
});

describe("a signature of one kind is none of another", () => {
  it("because a receipt's message begins with the base64url of what the others begin with", () => {
    const bundle = testBundle({ attestor });
    const [entry] = testHistory([{ attestor, fromRound: 1 }]).keys;
    const others = [signingBytes(bundle), keyEntryBytes(entry as NonNullable<typeof entry>)];
    for (const message of others) expect(String.fromCharCode(message[0] as number)).toBe("{");
    expect(receiptSigningInput(receipt, attestor.kid)).toMatch(/^eyJ[\w-]+\.eyJ[\w-]+$/);
  });

  it("neither a bundle's as a receipt's, nor a receipt's as a bundle's", () => {
    const bundle = testBundle({ attestor });
    const { sigBase64 } = bundle.signature;
    const input = receiptSigningInput(receipt, attestor.kid);
    expect(refusal(`${input}.${toBase64Url(fromBase64(sigBase64))}`)).toBe("/signature");
    expect(refusal(signed(bundle))).toMatch(/^\/payload/);

    const ofReceipt = toBase64(attestor.sign(utf8(input)));
    const forged = { ...bundle, signature: { alg: "ML-DSA-65", sigBase64: ofReceipt } };
    const trust = testHistory([{ attestor, fromRound: 1 }]);
    expect(verify(JSON.stringify(forged), { trust, crypto: nativeCrypto }).checks.signature).toBe("fail");
    expect(verify(JSON.stringify(receipt), { trust, crypto: nativeCrypto }).checks.schema).toBe("fail");
  });
});

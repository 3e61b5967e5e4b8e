// The receipt of a payment: a compact JWS (RFC 7515) by the attestor's key.
import assert from "node:assert/strict";
import { CAIP2, fits, integer, SHA256 } from "./form.mjs";
import { parse } from "./json.mjs";
import { signsBytes } from "./keys.mjs";

const isText = (value) => typeof value === "string" && value !== "" && Buffer.byteLength(value) <= 8000;
const ASCII = /^[!-~]{1,128}$/;
const FILE = { format: "jws", signature: (value) => typeof value === "string" };
const HEADER = { alg: "ML-DSA-65", kid: SHA256 };
const PAYLOAD = {
  type: "x402-receipt",
  version: 1,
  network: CAIP2,
  resourceUrl: isText,
  payer: ASCII,
  transaction: ASCII,
  issuedAt: integer(0),
};

export const isReceipt = (value) => fits(value, FILE);

function decode(part) {
  const bytes = Buffer.from(part, "base64url");
  assert(bytes.toString("base64url") === part, "not base64url");
  return bytes;
}

/** JSON within a text, which has no byte order mark. */
function parseWithin(bytes) {
  assert(bytes[0] !== 0xef, "a byte order mark");
  return parse(bytes);
}

/** What is written in a receipt, which is refused if it has another form. */
function read(jws) {
  const [header, payload, signature, ...rest] = jws.split(".");
  const [named, stated] = [header, payload].map((part) => parseWithin(decode(part)));
  assert(rest.length === 0 && fits(named, HEADER) && fits(stated, PAYLOAD), "another form");
  assert(decode(signature).length === 3309, "no signature");
  return { kid: named.kid, stated, signed: Buffer.from(`${header}.${payload}`), signature: decode(signature) };
}

/** Says what is right and wrong with a receipt, and whether it verifies. It names no round: no revoked key proves it. */
export function reportReceipt({ signature: jws }, { keys = [] }) {
  const { kid, stated, signed, signature } = read(jws);
  const key = keys.find((one) => one.kid === kid);
  const isTrusted = key !== undefined && key.revokedRound === undefined;
  const isSigned = key && signsBytes(key.pqPublicKey, signed, signature);
  const status = !key ? "unknown" : isTrusted ? (key.untilRound === undefined ? "current" : "retired") : "revoked";
  console.log("pass schema");
  console.log(isTrusted ? "pass" : "FAIL", "keyTrust");
  console.log(isSigned === undefined ? "not_checked" : isSigned ? "pass" : "FAIL", "signature");
  console.log("key", kid, status);
  if (isSigned) console.log("paid", stated.network, stated.payer, stated.transaction, stated.issuedAt);
  const verified = isTrusted && isSigned;
  console.log(verified ? "verified, stated as paid and delivered" : "not verified");
  return verified;
}

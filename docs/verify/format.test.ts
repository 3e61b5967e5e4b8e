import { createHash, createPrivateKey, createPublicKey } from "node:crypto";
import { readFileSync } from "node:fs";
import {
  ALGORAND_MAINNET,
  type BatchHead,
  type BatchItem,
  type BatchStatement,
  bundleId,
  type KeyEntry,
  type ProofBundle,
  verify,
} from "@attestd/proof";
import { encodeAddress, isCanonicalTransaction, txid } from "@attestd/proof/algorand";
import {
  batchStatementLeaf,
  encodeNote,
  keyEntryHash,
  keyIdentity,
  keyRevocationHash,
  paymentCommitment,
  signingBytes,
} from "@attestd/proof/attestor";
import { fromBase64, toBase64, toHex } from "@attestd/proof/encoding";
import { ml_dsa65 } from "@noble/post-quantum/ml-dsa.js";
import algosdk from "algosdk";
import { expect, it } from "vitest";
import { testInclusionBundle } from "../../test/bundles/bundles.ts";

const page = readFileSync(new URL("../format.md", import.meta.url), "utf8");
const example = JSON.parse(/```json\n(.*?)```/s.exec(page)?.[1] ?? "");
const sha256 = (data: string | Uint8Array) => createHash("sha256").update(data).digest("hex");

it("the worked example of docs/format.md is what the code computes", () => {
  const { txnId, hashSha256, txnBytesBase64, note, attestTxnId, attestRound, algorandAddress, paymentKey } = example;
  const { blockHash: b, height: n, time: u } = example;
  const seed = Uint8Array.from({ length: 32 }, (_, index) => index);
  const { publicKey, secretKey } = ml_dsa65.keygen(seed);
  const native = createPrivateKey({ key: Buffer.from(seed), format: "raw-seed", asymmetricKeyType: "ml-dsa-65" });
  expect(toBase64(createPublicKey(native).export({ format: "raw-public" }))).toBe(toBase64(publicKey));
  expect(keyIdentity(publicKey)).toEqual({ kid: example.kid, keySha256: example.keySha256 });
  expect(encodeAddress(new Uint8Array(32).fill(1))).toBe(algorandAddress);

  const bytes = fromBase64(txnBytesBase64);
  expect([isCanonicalTransaction(bytes), txid(bytes), sha256(bytes)]).toEqual([true, txnId, hashSha256]);
  const [c, g] = [ALGORAND_MAINNET, ALGORAND_MAINNET];
  const p = paymentCommitment(paymentKey);
  expect(encodeNote({ a: example.keySha256, b, c, g, h: hashSha256, l: "finalized", n, p, t: txnId, u })).toBe(note);

  const unsigned: Omit<ProofBundle, "signature"> = {
    version: 1,
    network: "algorand-mainnet",
    source: { chain: "algorand", txnId, hashSha256, txnBytesBase64 },
    attest: { txnId: attestTxnId, round: attestRound, note },
    attestor: { algorandAddress, pqPublicKey: toBase64(publicKey) },
  };
  expect(sha256(signingBytes(unsigned))).toBe(example.signedBytesSha256);
  const signature = ml_dsa65.sign(signingBytes(unsigned), secretKey, { extraEntropy: false });
  expect(sha256(signature)).toBe(example.signatureSha256);
  const bundle: ProofBundle = { ...unsigned, signature: { alg: "ML-DSA-65", sigBase64: toBase64(signature) } };
  expect(bundleId(bundle)).toBe(example.S);
  expect(verify(bundle, { trust: { kids: [example.kid] } }).verified).toBe(true);
});

it("the batch of the worked example is what the code computes", () => {
  const { batch, txnId, hashSha256, txnBytesBase64, attestTxnId, attestRound, algorandAddress } = example;
  const { index, size, root, note, siblings } = batch;
  const { publicKey, secretKey } = ml_dsa65.keygen(Uint8Array.from({ length: 32 }, (_, index) => index));
  const statement: BatchStatement = JSON.parse(batch.statement);
  expect(toHex(batchStatementLeaf(statement))).toBe(batch.leafHash);
  // By nothing but SHA-256: the last of three has one sibling, the node of the first two.
  const hash = (...parts: Uint8Array[]) => createHash("sha256").update(Buffer.concat(parts)).digest();
  const leaf = hash(Buffer.of(0), Buffer.from(batch.statement));
  expect(hash(Buffer.of(1), fromBase64(siblings[0]), leaf).toString("base64")).toBe(root);
  const p = paymentCommitment(example.paymentKey);
  const r = Buffer.from(root, "base64").toString("hex");
  expect(encodeNote({ a: example.keySha256, g: ALGORAND_MAINNET, p, r, z: size })).toBe(note);

  const unsigned: Omit<BatchHead, "signature"> = {
    type: "batch-attestation",
    version: 1,
    network: "algorand-mainnet",
    size,
    root,
    attest: { txnId: attestTxnId, round: attestRound, note },
    attestor: { algorandAddress, pqPublicKey: toBase64(publicKey) },
  };
  expect(sha256(signingBytes(unsigned))).toBe(batch.signedBytesSha256);
  const signature = ml_dsa65.sign(signingBytes(unsigned), secretKey, { extraEntropy: false });
  expect(sha256(signature)).toBe(batch.signatureSha256);
  const item: BatchItem = {
    type: "batch-item",
    version: 1,
    network: "algorand-mainnet",
    source: { chain: "algorand", txnId, hashSha256, txnBytesBase64 },
    statement,
    proof: { index, siblings },
    batch: { ...unsigned, signature: { alg: "ML-DSA-65", sigBase64: toBase64(signature) } },
  };
  expect(bundleId(item)).toBe(batch.S);
  expect(verify(item, { trust: { kids: [example.kid] } }).verified).toBe(true);
});

it("the worked example names its key, its account and its transaction as others name them", () => {
  // calculateJwkThumbprint of jose 6.2.17, run once, of the public key that RFC 9881 prints for the seed 00 01 … 1f.
  expect(example.kid).toBe("x0kWwvv_AqVn61aqlQHnR3QwLdzUjPE_JWxbqdcwnmc");
  expect(algosdk.encodeAddress(new Uint8Array(32).fill(1))).toBe(example.algorandAddress);
  const bytes = fromBase64(example.txnBytesBase64);
  const transaction = algosdk.decodeUnsignedTransaction(bytes);
  expect(transaction.txID()).toBe(example.txnId);
  expect(algosdk.encodeUnsignedTransaction(transaction)).toEqual(bytes);
});

it("the key notes of the worked example are what the code computes", () => {
  const seed = Uint8Array.from({ length: 32 }, (_, index) => index);
  const { kid, keySha256, algorandAddress, fromRound, revokedRound } = example;
  const entry: KeyEntry = {
    type: "attestor-key",
    version: 1,
    kid,
    keySha256,
    pqPublicKey: toBase64(ml_dsa65.keygen(seed).publicKey),
    algorandAddress,
    origin: "https://attestd.example",
    fromRound,
  };
  const g = ALGORAND_MAINNET;
  const later = { endorsement: "of the key before", untilRound: fromRound + 1 };
  expect(encodeNote({ g, k: keyEntryHash({ ...entry, ...later }) })).toBe(example.keyNote);
  expect(encodeNote({ g, k: keyRevocationHash({ ...entry, ...later, revokedRound }) })).toBe(example.revocationNote);
  // As any JSON writer makes the bytes that sorts.
  const sorted = Object.fromEntries(Object.entries({ ...entry, revokedRound }).sort(([a], [b]) => (a < b ? -1 : 1)));
  expect(example.revocationNote).toContain(`"k":"${sha256(JSON.stringify(sorted))}"`);
});

it("docs/format.md lists the checks of a report in their order", () => {
  const section = page.slice(page.indexOf("## Checks"), page.indexOf("`verified` needs"));
  const listed = [...section.matchAll(/^\| `(\w+)` +\|/gm)].map(([, name]) => name);
  const { checks } = verify(testInclusionBundle());
  expect(listed).toEqual(Object.keys(checks));
});

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseNote } from "@attestd/proof";
import { encodePaymentRequiredHeader, encodePaymentSignatureHeader } from "@x402/core/http";
import algosdk from "algosdk";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  TEST_RECEIPT,
  testAttestor,
  testBaseBlock,
  testBlockBundle,
  testBundle,
  testHistory,
  testInclusionBundle,
} from "../../../test/bundles/bundles.ts";
import { testEvidence } from "../../../test/bundles/evidence.ts";
import { attestd } from "../../../test/helpers/command.ts";
import { temporaryFolder } from "../../../test/helpers/temporary-folder.ts";
import { ALGORAND_OFFER, BASE_OFFER } from "../../client/test/fake-service.ts";

const bundle = testBundle();
const EVIDENCE = testEvidence();
const attestor = testAttestor();
const NO_VERDICT = "  Not verified: inspect explains, verify checks.\n";

const part = (value: object | Uint8Array) =>
  Buffer.from(value instanceof Uint8Array ? value : JSON.stringify(value)).toString("base64url");
/** Its signature is of nothing: inspect does not check it. */
const jws = `${part({ alg: "ML-DSA-65", kid: attestor.kid })}.${part(TEST_RECEIPT)}.${part(new Uint8Array(3309))}`;
const required = {
  x402Version: 2 as const,
  error: "payment required",
  resource: { url: "https://attestd.example/attest", description: "one attestation", mimeType: "application/json" },
  accepts: [ALGORAND_OFFER, BASE_OFFER],
  extensions: { bazaar: {} },
};
const authorization = {
  from: "0x857b06519E91e3A54538791bDbb0E22373e36b66",
  to: BASE_OFFER.payTo,
  value: "1000",
  validAfter: "1795256945",
  validBefore: "1795257065",
  nonce: `0x${"ab".repeat(32)}`,
};
const signedOnBase = { x402Version: 2, accepted: BASE_OFFER, payload: { authorization, signature: "0x12" } };
const settled = {
  success: true,
  transaction: TEST_RECEIPT.transaction,
  network: "eip155:8453",
  payer: TEST_RECEIPT.payer,
  extensions: { "offer-receipt": { info: { receipt: { format: "jws", signature: jws } } } },
};

/** A stock group of two: the facilitator's fee, unsigned, and the payer's transfer. */
function algorandPayment() {
  const account = algosdk.generateAccount();
  const suggestedParams = {
    fee: 0,
    flatFee: true,
    minFee: 1000,
    firstValid: 10,
    lastValid: 20,
    genesisHash: Buffer.alloc(32, 1),
    genesisID: "x-v1",
  };
  const { addr } = account;
  const transfer = algosdk.makeAssetTransferTxnWithSuggestedParamsFromObject({
    sender: addr,
    receiver: addr,
    assetIndex: 31566704,
    amount: 1000,
    suggestedParams,
  });
  const group = [transfer.signTxn(account.sk), algosdk.encodeUnsignedSimulateTransaction(transfer)];
  const paymentGroup = group.map((bytes) => Buffer.from(bytes).toString("base64"));
  const payload = { paymentGroup, paymentIndex: 0 };
  return { address: addr.toString(), payment: { x402Version: 2, accepted: ALGORAND_OFFER, payload } };
}

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
beforeAll(async () => {
  folder = await temporaryFolder();
  const files: Record<string, unknown> = {
    "b.json": bundle,
    "block.json": testBlockBundle({ block: testBaseBlock(1) }),
    "inclusion.json": testInclusionBundle({ block: testBaseBlock(3) }),
    "keys.json": testHistory([
      { attestor, fromRound: 1 },
      { attestor: testAttestor("next"), fromRound: 2000, revokedRound: 3000 },
    ]),
    "good-keys.json": testHistory(),
    "odd.json": { ...bundle, attest: { ...bundle.attest, round: "1000" } },
    "other.json": { hello: "world" },
    "required.json": required,
    "evidence.json": EVIDENCE.evidence,
    "checkpoint.json": EVIDENCE.checkpoint,
  };
  for (const [name, value] of Object.entries(files)) await writeFile(join(folder.path, name), JSON.stringify(value));
  await attestd(["certificate", "b.json", "--keys", "good-keys.json"], { cwd: folder.path });
});
afterAll(() => folder[Symbol.asyncDispose]());
const run = (args: string, input = "") => attestd(["inspect", ...args.split(" ")], { cwd: folder.path, input });

/** The rows of an explanation by their labels. */
function rowsOf(stdout: string): Record<string, string> {
  const lines = stdout.split("\n").slice(1);
  return Object.fromEntries(
    lines.map((line) => /^ {2}( *\S.*?) {2,}(.*)$/.exec(line) ?? []).map(([, k = "", v = ""]) => [k, v]),
  );
}

describe("attestd inspect explains", () => {
  test("a bundle, and says that it verified nothing", async () => {
    const { code, stdout } = await run("b.json");
    expect(stdout).toMatch(/^Attestation of a transaction {2}b\.json\n/);
    expect(rowsOf(stdout)).toMatchObject({
      chain: "Algorand",
      transaction: bundle.source.txnId,
      fingerprint: expect.stringContaining(bundle.source.hashSha256),
      recorded: `in round 1000, by the transaction ${bundle.attest.txnId}`,
      "signed by": `key ${attestor.kid}`,
      account: attestor.algorandAddress,
      "block time": "2026-05-28 20:26:40 UTC",
    });
    expect(stdout).toContain("  It states: On 28 May 2026 at 20:26:40 UTC, account ");
    expect(stdout.endsWith(NO_VERDICT)).toBe(true);
    expect(stdout).not.toMatch(/✓|Verified /);
    expect(code).toBe(0);
  });

  test("evidence, and a checkpoint", async () => {
    const { stateProofSha256, checkpoint } = EVIDENCE.stateProof;
    expect(rowsOf((await run("evidence.json")).stdout)).toMatchObject({
      bundle: EVIDENCE.evidence.bundle,
      "state proof": "of rounds 993 to 1008",
      "  its SHA-256": stateProofSha256,
      checkpoint: "of round 992",
    });
    expect(rowsOf((await run("checkpoint.json")).stdout)).toMatchObject({
      round: "992",
      voters: checkpoint.votersCommitment,
    });
  });

  test("every member of its note", async () => {
    const { stdout } = await run("-", bundle.attest.note);
    expect(stdout).toMatch(/^Note of a transaction {2}-\n/);
    for (const [name, value] of Object.entries(parseNote(bundle.attest.note)))
      expect(stdout).toMatch(new RegExp(`\\n {2}note ${name} {2}[^u].*: ${value}( \\(.*\\))?\\n`));
    const [of] = Object.keys(parseNote(bundle.attest.note));
    expect(of).toBe("a");
  });

  test.each([
    ["block.json", /^Attestation of a block {2}.*\n {2}chain +Base\n/],
    ["inclusion.json", /^Proof that a transaction is in a block .*\n {2}proof +place 0 in the block; \d+ trie nodes/s],
    ["b.pdf", /^Certificate \(PDF\) of: Attestation of a transaction {2}b\.pdf\n/],
    ["keys.json", /^Key history of attestd\.example .*\n {2}revoked key +\S{43}\n.*\n {2}retired key +\S{43}\n/s],
    ["required.json", /^PAYMENT-REQUIRED: .*\n {2}offer 1 +0\.001 USDC on Algorand, scheme exact\n/s],
  ])("%s", async (file, words) => {
    const { code, stdout } = await run(file);
    expect(stdout).toMatch(words);
    expect(stdout.endsWith(NO_VERDICT)).toBe(true);
    expect(code).toBe(0);
  });

  test.each([
    ["PAYMENT-REQUIRED in base64", encodePaymentRequiredHeader(required as never)],
    ["with its name before", `PAYMENT-REQUIRED: ${encodePaymentRequiredHeader(required as never)}\n`],
  ])("%s", async (_, input) => {
    const { stdout } = await run("-", input);
    expect(rowsOf(stdout)).toMatchObject({
      for: "https://attestd.example/attest",
      error: "payment required",
      "offer 2": "0.001 USDC on Base, scheme exact",
      "  to": BASE_OFFER.payTo,
      extensions: "bazaar",
    });
  });

  test("PAYMENT-SIGNATURE of Base: who may take what until when", async () => {
    const { stdout } = await run("-", encodePaymentSignatureHeader(signedOnBase as never));
    expect(rowsOf(stdout)).toMatchObject({
      accepted: "0.001 USDC on Base, scheme exact",
      signed: "an authorization to move USDC (EIP-3009)",
      "  from": authorization.from,
      "  valid": "2026-11-21 10:29:05 UTC to 2026-11-21 10:31:05 UTC",
      "  nonce": authorization.nonce,
    });
    expect(stdout).toContain("anyone who has it can have it settled once");
  });

  test("PAYMENT-SIGNATURE whose members are no texts", async () => {
    const untold = { toString: 1, valueOf: 1 };
    const authorization = { from: untold, to: untold, value: untold, validAfter: untold, nonce: untold };
    for (const payload of [{ authorization }, { paymentGroup: [untold] }]) {
      const { code, stdout } = await run("-", encodePaymentSignatureHeader({ ...signedOnBase, payload } as never));
      expect(code).toBe(0);
      const shown = '{"toString":1,"valueOf":1}';
      const rows = { "  from": shown, "  valid": `${shown} to nothing`, "  nonce": shown };
      expect(rowsOf(stdout)).toMatchObject("authorization" in payload ? rows : { "  1": "not a transaction" });
    }
  });

  test("PAYMENT-SIGNATURE of Algorand: each transaction of the group", async () => {
    const { address, payment } = algorandPayment();
    const { stdout } = await run("-", encodePaymentSignatureHeader(payment as never));
    const what = `axfer, 1000 of asset 31566704, from ${address}, to ${address}, rounds 10 to 20`;
    expect(rowsOf(stdout)).toMatchObject({ "  1": `${what}, signed`, "  2": `${what}, not signed yet` });
  });

  test("PAYMENT-RESPONSE, with the receipt in it", async () => {
    const { stdout } = await run("-", Buffer.from(JSON.stringify(settled)).toString("base64"));
    expect(rowsOf(stdout)).toMatchObject({
      settled: "yes",
      transaction: TEST_RECEIPT.transaction,
      "receipt: for": TEST_RECEIPT.resourceUrl,
      "receipt: delivered": "2026-11-21 10:29:05 UTC",
    });
  });

  test.each([
    ["as a JWS", jws],
    ["as its file", JSON.stringify({ format: "jws", signature: jws })],
  ])("a receipt %s", async (_, input) => {
    const { stdout } = await run("-", input);
    expect(stdout).toMatch(/^Receipt of a payment {2}-\n/);
    expect(rowsOf(stdout)).toMatchObject({ "paid by": TEST_RECEIPT.payer, "signed by": `key ${attestor.kid}` });
    expect(stdout.endsWith(NO_VERDICT)).toBe(true);
  });

  test("what is known in a folder, and leaves the rest out", async () => {
    const { code, stdout } = await run(".");
    expect(stdout).toMatch(/^Attestation of a transaction {2}b\.json\n.*\nCertificate \(PDF\) .*\nKey history of /s);
    expect(stdout).toContain("✕ Can't read  odd.json\n");
    expect(stdout).not.toContain("other.json");
    expect(code).toBe(3);
  });

  test("for programs with --json, one a line", async () => {
    const { code, stdout } = await run("b.json keys.json other.json --json");
    const [first, second, third] = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(first).toMatchObject({
      file: "b.json",
      kind: "transaction-attestation",
      verified: null,
      bundle,
      kid: attestor.kid,
    });
    expect(second).toMatchObject({ kind: "key-history", verified: null });
    expect(third).toEqual({ file: "other.json", unreadable: "JSON, but of no kind that inspect knows." });
    expect(code).toBe(3);
  });
});

test.each([
  ["other.json", "", "JSON, but of no kind that inspect knows."],
  ["odd.json", "", "Its form is wrong: /attest/round must be an integer"],
  ["-", "", "The file is empty."],
  ["-", "hello", "Not JSON (line 1), and nothing else that inspect knows."],
  ["-", '{"accepts":[]}', "It looks like PAYMENT-REQUIRED, but not of x402 version 2."],
  ["-", '{"accepted":{},"payload":{}}', "It looks like PAYMENT-SIGNATURE, but not of x402 version 2."],
  [
    "-",
    Buffer.from('{"hello":"world, this is base64"}').toString("base64"),
    "Base64, but of no kind that inspect knows.",
  ],
  ["-", bundle.attest.note.replace('"a"', ' "a"'), "Its form is wrong: not canonical"],
  ["-", jws.replace(/^[^.]+/, part({ alg: "none" })), "Its form is wrong: /header"],
  ["-", "<svg><metadata></metadata></svg>", "This certificate carries no bundle."],
  ["-", `{"version":1,"version":1,"attest":{}}`, 'Not valid JSON: line 1: "version" appears twice.'],
  ["none.json", "", "There is no such file."],
])("attestd inspect can't explain %s %s", async (file, input, why) => {
  const { code, stdout } = await run(file, input);
  expect(stdout).toContain(`✕ Can't read  ${file}\n  ${why}`);
  expect(code).toBe(3);
});

test("what a stranger wrote moves no cursor", async () => {
  const evil = { ...required, error: "\u001b[2J\u202eevil", resource: { url: "https://a.example/\u001b[2J" } };
  const { stdout } = await run("-", JSON.stringify(evil));
  expect(stdout).toContain("\\u{1b}[2J\\u{202e}evil");
  expect(stdout).not.toContain("\u001b");
  const long = await run(
    "-",
    JSON.stringify({ ...required, resource: { url: `https://a.example/${"x".repeat(1e6)}` } }),
  );
  expect(long.stdout.length).toBeLessThan(5_000);
});

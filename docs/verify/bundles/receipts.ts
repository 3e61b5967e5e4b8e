import { toBase64Url, utf8 } from "@attestd/proof/encoding";
import { TEST_ITEMS, testBatch } from "../../../test/bundles/batches.ts";
import { TEST_RECEIPT, type TestAttestor, testReceipt } from "../../../test/bundles/bundles.ts";
import { first, local, now, second, stranger, third } from "./ingredients.ts";

/* Receipts and answers of batches, with what every verifier says of them. By hand from docs/format.md. */

/** A file that is judged by the history `keys`. */
export type FileCase = {
  name: string;
  text: string;
  /** The lines below the file's name, or below that of each item. */
  said: string[];
};

const REFUSED = ["FAIL schema", "not verified"];
const fileOf = (jws: unknown, more: object = {}) => JSON.stringify({ format: "jws", signature: jws, ...more });
const of = (members: object, by: TestAttestor = third) => fileOf(testReceipt(by, { ...TEST_RECEIPT, ...members }));
const jws = testReceipt(third);
const [header = "", payload = "", signature = ""] = jws.split(".");

function said(by: TestAttestor, status: string, [keyTrust, signed]: [string, string], members: object = {}): string[] {
  const { network, payer, transaction, issuedAt } = { ...TEST_RECEIPT, ...members };
  const isVerified = keyTrust === "pass" && signed === "pass";
  return [
    "pass schema",
    `${keyTrust} keyTrust`,
    `${signed} signature`,
    `key ${by.kid} ${status}`,
    ...(signed === "pass" ? [`paid ${network} ${payer} ${transaction} ${issuedAt}`] : []),
    isVerified ? "verified, stated as paid and delivered" : "not verified",
  ];
}

/** Payloads that are taken. */
const TAKEN: [name: string, members: object][] = [
  ["a resource that is no URL", { resourceUrl: "the goods" }],
  ["a resource of one byte", { resourceUrl: " " }],
  ["a resource of 8,000 bytes", { resourceUrl: "a".repeat(8000) }],
  ["a resource of 2,000 letters of 4 bytes", { resourceUrl: "\u{1f600}".repeat(2000) }],
  ["a resource with controls", { resourceUrl: "\u0000\n\u2028" }],
  ["a payer of 128 bytes", { payer: "!".repeat(128) }],
  ["a transaction of one byte", { transaction: "~" }],
  ["a network of the shortest names", { network: "abc:d" }],
  ["a network of the longest names", { network: `abcdefgh:${"D_-9".repeat(8)}` }],
  ["the first second", { issuedAt: 0 }],
  ["the last second", { issuedAt: 2 ** 53 - 1 }],
];
/** Payloads that are refused. */
const REFUSALS: [name: string, members: object][] = [
  ["no resource", { resourceUrl: "" }],
  ["a resource of 8,001 bytes", { resourceUrl: "a".repeat(8001) }],
  ["a resource of 4,001 letters of 2 bytes", { resourceUrl: "é".repeat(4001) }],
  ["a resource that is a number", { resourceUrl: 1 }],
  ["no payer", { payer: "" }],
  ["a payer of 129 bytes", { payer: "a".repeat(129) }],
  ["a payer with a space", { payer: "0x 1" }],
  ["a payer that is not ASCII", { payer: "é" }],
  ["a transaction with a line feed", { transaction: "0x1\n" }],
  ["a transaction with a control", { transaction: "\u007f" }],
  ["a network of 2 letters", { network: "ab:c" }],
  ["a network of 9 letters", { network: "abcdefghi:d" }],
  ["a network in upper case", { network: "ABC:d" }],
  ["a network without a reference", { network: "abc:" }],
  ["a network of a reference of 33", { network: `abc:${"d".repeat(33)}` }],
  ["a network with two colons", { network: "abc:d:e" }],
  ["a network that ends with a line feed", { network: "abc:d\n" }],
  ["a time before 1970", { issuedAt: -1 }],
  ["a time of 2^53", { issuedAt: 2 ** 53 }],
  ["a time with a fraction", { issuedAt: 1.5 }],
  ["a time in text", { issuedAt: "1" }],
  ["another version", { version: 2 }],
  ["another type", { type: "x402-offer" }],
  ["a member more", { amount: "1" }],
  ["a member less", { payer: undefined }],
];
/** A payload whose last character has four bits too many, which are not zero. */
const withUnusedBits = ["a", "aa", "aaa"]
  .map((resourceUrl) => toBase64Url(utf8(JSON.stringify({ ...TEST_RECEIPT, resourceUrl }))))
  .find((text) => text.length % 4 === 2)
  ?.replace(/.$/, "B");
/** Texts of the file that are refused. */
const FILES: [name: string, text: string][] = [
  ["another format", fileOf(jws, { format: "eip712" })],
  ["a member more beside the format", fileOf(jws, { payload: {} })],
  ["a signature that is no text", fileOf([jws])],
  ["two parts", fileOf(`${header}.${payload}`)],
  ["four parts", fileOf(`${jws}.`)],
  ["nothing", fileOf("")],
  ["no header", fileOf(`.${payload}.${signature}`)],
  ["padding", fileOf(`${jws}==`)],
  ["white space", fileOf(`${jws}\n`)],
  ["unused bits that are not zero", fileOf(`${header}.${withUnusedBits}.${signature}`)],
  ["a signature of 3,306 bytes", fileOf(`${header}.${payload}.${signature.slice(0, -4)}`)],
  ["the other alphabet", fileOf(jws.replaceAll("-", "+").replaceAll("_", "/"))],
  ["a header that is no JSON", fileOf(`${toBase64Url(utf8("{"))}.${payload}.${signature}`)],
  ["a header that is null", fileOf(`${toBase64Url(utf8("null"))}.${payload}.${signature}`)],
  [
    "a byte order mark within the header",
    fileOf(`${toBase64Url(utf8(`\ufeff{"alg":"ML-DSA-65","kid":"${third.kid}"}`))}.${payload}.${signature}`),
  ],
  ["another algorithm", fileOf(testReceipt(third, TEST_RECEIPT, { alg: "EdDSA", kid: third.kid }))],
  [
    "a header that must be understood",
    fileOf(testReceipt(third, TEST_RECEIPT, { alg: "ML-DSA-65", kid: third.kid, crit: [] })),
  ],
  ["a short kid", fileOf(testReceipt(third, TEST_RECEIPT, { alg: "ML-DSA-65", kid: third.kid.slice(1) }))],
];

export const RECEIPTS: readonly FileCase[] = [
  { name: "a receipt", text: fileOf(jws), said: said(third, "current", ["pass", "pass"]) },
  {
    name: "a receipt, other spacing and order",
    text: JSON.stringify({ signature: jws, format: "jws" }, null, 2),
    said: said(third, "current", ["pass", "pass"]),
  },
  { name: "a receipt by a retired key", text: of({}, first), said: said(first, "retired", ["pass", "pass"]) },
  { name: "a receipt by a revoked key", text: of({}, second), said: said(second, "revoked", ["FAIL", "pass"]) },
  {
    name: "a receipt by a stranger",
    text: of({}, stranger),
    said: said(stranger, "unknown", ["FAIL", "not_checked"]),
  },
  {
    name: "a receipt by another under the key's name",
    text: fileOf(testReceipt(local, TEST_RECEIPT, { alg: "ML-DSA-65", kid: third.kid })),
    said: said(third, "current", ["pass", "FAIL"]),
  },
  ...TAKEN.map(([name, members]) => ({
    name: `a receipt with ${name}`,
    text: of(members),
    said: said(third, "current", ["pass", "pass"], members),
  })),
  ...REFUSALS.map(([name, members]) => ({ name: `a receipt with ${name}`, text: of(members), said: REFUSED })),
  ...FILES.map(([name, text]) => ({ name: `a receipt with ${name}`, text, said: REFUSED })),
];

const { batch, items } = testBatch(TEST_ITEMS, now);
const [one, two] = items as [(typeof items)[0], (typeof items)[0]];
const ANSWERS: [name: string, answer: object][] = [
  ["an item too few", { batch, items: [one] }],
  ["no items", { batch, items: [] }],
  ["its items in another order", { batch, items: [two, one] }],
  ["an item twice", { batch, items: [one, one] }],
  ["an item that has the head", { batch, items: [one, { ...two, batch }] }],
  ["a member more", { batch, items, more: 1 }],
  ["a head that is none", { batch: { ...batch, type: "batch" }, items }],
];

/** Answers of batches: what is said below the name of each item, where the answer has its form. */
export const ANSWERS_REFUSED: readonly FileCase[] = ANSWERS.map(([name, answer]) => ({
  name: `the answer of a batch with ${name}`,
  text: JSON.stringify(answer),
  said: REFUSED,
}));
export const ANSWER = { text: JSON.stringify({ batch, items }), items: [one, two].map((item) => ({ ...item, batch })) };

import { parentPort } from "node:worker_threads";
import { inferChain, parseJson, parseKeyHistory, parseNote, verify, verifyPaymentReceipt } from "@attestd/proof";
import {
  ALGORAND_ID,
  decodeAddress,
  decodeMsgpack,
  decodeTransaction,
  isAlgorandCaip2,
  splitBlock,
} from "@attestd/proof/algorand";
import { BASE_HASH, decodeBaseHeader, decodeBaseTransaction, decodeRlp, readReceiptStatus } from "@attestd/proof/base";
import { fromBase32, fromBase64, fromBase64Url, fromHex, utf8 } from "@attestd/proof/encoding";
import { canonicalize, childPointer } from "@attestd/proof/json";
import { parseUsdc } from "@attestd/proof/rails";
import { excerpt } from "@attestd/proof/text";
import { keyId, ledgerId, serviceUrl } from "../../packages/attestd/src/options.ts";
import { printable as printedBy } from "../../packages/attestd/src/terminal/terminal.ts";
import { withChainOf } from "../../packages/client/src/chain-check.ts";
import { postRequest } from "../../packages/client/src/request.ts";
import { readSkillCall } from "../../packages/service/src/api/a2a/message.ts";
import { createTaskIds } from "../../packages/service/src/api/a2a/task-id.ts";
import { json } from "../../packages/service/src/api/endpoints/answer.ts";
import { takesGzip } from "../../packages/service/src/api/endpoints/gzip.ts";
import { readMessage } from "../../packages/service/src/api/endpoints/messages.ts";
import { clientName } from "../../packages/service/src/api/http/client-name.ts";
import { isKnown } from "../../packages/service/src/api/http/prepared.ts";
import { createRateLimit } from "../../packages/service/src/api/http/rate-limit.ts";
import { createRouter } from "../../packages/service/src/api/http/router.ts";
import { parseInput, requireJson } from "../../packages/service/src/catalogue/input.ts";
import * as settings from "../../packages/service/src/config/formats.ts";
import { seedOfMnemonic } from "../../packages/service/src/config/mnemonic.ts";
import { solanaAddressBytes } from "../../packages/service/src/config/solana-address.ts";
import { classifyRejection } from "../../packages/service/src/ledger/submission.ts";
import { decodePaymentHeader } from "../../packages/service/src/payment/header.ts";
import { identifierAlias } from "../../packages/service/src/payment/identifier.ts";
import { readGroup } from "../../packages/service/src/payment/rails/algorand/group.ts";
import { readAuthorization } from "../../packages/service/src/payment/rails/base/authorization.ts";
import { readTransaction } from "../../packages/service/src/payment/rails/solana/transaction.ts";
import { hexBytes } from "../../packages/service/src/providers/hex-bytes.ts";
import { parseLosslessJson } from "../../packages/service/src/providers/json.ts";
import { attestSubject } from "../../packages/service/src/subjects/subject.ts";
import { readFileContents } from "../../packages/web/src/bundle-file.ts";
import { parsePointer, pointerUrl } from "../../packages/web/src/pointer.ts";
import { hostOf } from "../../packages/web/src/printable.ts";
import { testBundle, testHistory, testInclusionBundle } from "../bundles/bundles.ts";

/* Feeds megabytes that make slow patterns backtrack to every reader of a stranger's text, and prints its progress. */

const SIZE = 2 ** 20;
const history = testHistory();
const bundle = testBundle();
const report = verify(bundle, { trust: history });
const form = { verifying: ["verify"], extra: ["skill"], large: {} };
const taskIds = createTaskIds(new Uint8Array(32));
const findRoute = createRouter([{ method: "GET", path: "/bundles/:id", handle: () => json(200, "") }]);
const rateLimit = createRateLimit({
  perMinute: { paid: 1e9, verify: 1e9, agents: 1e9, documents: 1e9 },
  classOf: () => "paid",
  trustProxy: true,
});
const base64Url = (text: string) => Buffer.from(text).toString("base64url");
const quoted = (text: string) => JSON.stringify(text.toWellFormed());
const answering = (init: ResponseInit, body = "{}") =>
  postRequest(
    async () => new Response(body, init),
    "http://service.example",
    { path: "/attest", body: { txid: "" } },
    { signal: AbortSignal.timeout(60_000) },
  );

/** Readers of text. Their errors do not matter here, except the engine's own limits. */
const READERS: Readonly<Record<string, (text: string) => unknown>> = {
  parseJson: (text) => parseJson(text),
  "parseJson, a string": (text) => parseJson(`"${text}`),
  "parseJson, a number": (text) => parseJson(`[-0.${text}`),
  childPointer: (text) => childPointer("", text),
  excerpt: (text) => excerpt(text),
  fromHex,
  fromBase64,
  fromBase64Url,
  fromBase32,
  "ALGORAND_ID.pattern": (text) => ALGORAND_ID.pattern.test(text),
  "BASE_HASH.pattern": (text) => BASE_HASH.pattern.test(text),
  isAlgorandCaip2,
  inferChain,
  decodeAddress,
  parseNote,
  parseKeyHistory,
  verify: (text) => verify(text),

  parseInput,
  requireJson: (text) => requireJson({ "content-type": text, "content-encoding": text }),
  "a message of MCP": (text) => readMessage(utf8(text), { ...form, protocol: "mcp" }),
  readSkillCall: (text) => readSkillCall({ role: "user", parts: [{ kind: "text", text }] }),
  "a task's id": (text) => taskIds.read(text),
  "a request target": (text) => findRoute(`/${text}`),
  clientName,
  decodePaymentHeader,
  identifierAlias: (text) =>
    identifierAlias(
      { rail: "base", payer: "p", payload: { extensions: { "payment-identifier": { info: { id: text } } } } as never },
      0,
    ),
  readGroup: (text) => readGroup({ paymentGroup: [text], paymentIndex: 0 }),
  readAuthorization: (text) => readAuthorization({ authorization: { value: text }, signature: text }),
  readTransaction: (text) => readTransaction({ transaction: text }),
  attestSubject: (text) => attestSubject({ txid: text }, new Map()),
  solanaAddressBytes,
  classifyRejection,
  parseLosslessJson,
  hexBytes: (text) => hexBytes.safeParse(`0x${text}`),
  seedOfMnemonic,

  readFileContents: (text) => readFileContents(utf8(text)),
  "readFileContents, an SVG": (text) => readFileContents(utf8(`<svg><metadata id="attestd-bundle">${text}`)),
  parsePointer: (text) => parsePointer(`#c1.${text}`),
  pointerUrl: (text) => pointerUrl(text, bundle),
  keyId,
  ledgerId: (text) => ledgerId(`algorand:${text}`),
};

/** Readers that take milliseconds for a megabyte of anything: they get what their own patterns and splits look for, and marks. */
const SLOWER: typeof READERS = {
  "parseNote, JSON": (text) => parseNote(`attestd/v1:j${text}`),
  verifyPaymentReceipt: (text) => verifyPaymentReceipt(text, []),
  "clientName, in brackets": (text) => clientName(`[${text}`),
  "Accept-Encoding": (text) => takesGzip(text),
  "If-None-Match": (text) => isKnown(text, '"etag"'),
  "X-Forwarded-For": (text) => rateLimit({ headers: { "x-forwarded-for": text }, socket: {} } as never, "/attest"),
  "requireJson, an encoding": (text) => requireJson({ "content-type": "application/json", "content-encoding": text }),
  ...Object.fromEntries(
    Object.entries({ ...settings, whole: settings.whole(0, 9), plainUrl: settings.plainUrl("AUTH") }).map(
      ([name, format]) => [`the setting ${name}`, (text: string) => format.safeParse(text)],
    ),
  ),
  withChainOf: (text) => withChainOf(`http://127.0.0.1:1/${text}`, new Uint8Array(), report),
  "postRequest, an answer": (text) => answering({ status: 400 }, text),
  "postRequest, Retry-After": (text) => answering({ status: 503, headers: { "retry-after": text } }),
  "postRequest, PAYMENT-REQUIRED": (text) => answering({ status: 402, headers: { "payment-required": text } }),
  "postRequest, PAYMENT-RESPONSE": (text) => answering({ headers: { "payment-response": text } }),
  "Accept-Encoding, a quality": (text) => takesGzip(`gzip;q=${text}`),
  "the setting url, a path": (text) => settings.plainUrl("AUTH").safeParse(`http://h/${text}`),
  hostOf: (text) => hostOf(`https://${text}`),
  serviceUrl: (text) => serviceUrl(`http://h/${text}`),
  "printable of the command": (text) => printedBy(text, false),
  "verifyPaymentReceipt, its header": (text) => verifyPaymentReceipt(`${base64Url(text)}.e30.`, []),
  "canonicalize, a name": (text) => canonicalize({ [text]: 1 }),
  "decodePaymentHeader, JSON": (text) => decodePaymentHeader(Buffer.from(text).toString("base64")),
  "parseLosslessJson, a number": (text) => parseLosslessJson(`[1e1,${text.slice(0, -1)}]`),
  "classifyRejection, of numbers": (text) => classifyRejection(`txn dead: round ${text}`),
  parseUsdc,
  "a text in a message of A2A": (text) =>
    readMessage(utf8(`{"params":{"message":{"parts":[{"kind":"text","text":${quoted(`{${text}`)}}]}}}`), {
      ...form,
      protocol: "a2a",
    }),
};
const FOR_SLOWER = ["/", "0", "9", " ", ",", ";", ".", ":", "[", "\\", "\u0301\u0316"];

/** Readers of bytes: the runs' own, as Latin-1. */
const BYTE_READERS: Readonly<Record<string, (bytes: Uint8Array) => unknown>> = {
  decodeMsgpack,
  decodeTransaction,
  decodeRlp,
  decodeBaseHeader,
  decodeBaseTransaction,
  readReceiptStatus: (bytes) => readReceiptStatus(bytes, bytes),
  splitBlock,
};

const PRINTED = Array.from({ length: 0x7f - 0x20 }, (_, code) => String.fromCharCode(0x20 + code));
const SINGLE = [
  ...PRINTED.filter((character) => /[^A-Za-z0-9]/.test(character)),
  ..."\t\n\r\u00009aAF",
  ...["\u0301", "\u0301\u0316", "\ud800", "\udc00", "\u2028", "\u{1f511}"],
];
const PAIRS = ["a=", "a.", '\\"', "0x", ": ", "\u0091"];

/** Each text ends in a character that no pattern of the rest matches. */
function* runs(): Generator<[name: string, text: string]> {
  for (const unit of [...SINGLE, ...PAIRS]) {
    const run = unit.repeat(SIZE / unit.length);
    // Flat: V8 flattens a rope at the first read, which would count as the reader's time.
    const coding = [...unit].every((character) => character <= "\u00ff") ? "latin1" : "utf16le";
    yield [unit, Buffer.from(`${run}!`, coding).toString(coding)];
  }
}

/** A bundle, or a history, once for each text in it, which is 1 MB of its own first letter there, and then something else. */
function* grown(name: string, value: object, read: (json: string) => unknown): Generator<[string, () => unknown]> {
  const texts: string[] = [];
  JSON.stringify(value, (member, one) => {
    if (typeof one === "string") texts.push(member);
    return one;
  });
  for (let at = 0; at < texts.length; at++) {
    let seen = 0;
    const json = JSON.stringify(value, (_, one) =>
      typeof one === "string" && seen++ === at ? `${one.slice(0, 9)}${one.slice(-1).repeat(SIZE)}!` : one,
    );
    yield [`${name}, its ${texts[at]}`, () => read(json)];
  }
}

function* cells(): Generator<[string, () => unknown]> {
  for (const [unit, text] of runs()) {
    for (const [name, read] of Object.entries(READERS)) yield [`${name} of ${JSON.stringify(unit)}`, () => read(text)];
    const slower = FOR_SLOWER.includes(unit) ? Object.entries(SLOWER) : [];
    for (const [name, read] of slower) yield [`${name} of ${JSON.stringify(unit)}`, () => read(text)];
    const bytes = new Uint8Array(Buffer.from(text, "latin1"));
    for (const [name, read] of Object.entries(BYTE_READERS))
      yield [`${name} of ${JSON.stringify(unit)}`, () => read(bytes)];
  }
  yield* grown("a bundle", bundle, (json) => verify(json, { trust: history }));
  yield* grown("a proof of inclusion", testInclusionBundle({}), (json) => verify(json, { trust: history }));
  yield* grown("a key history", history, (json) => parseKeyHistory(json));
}

async function feed(say: (message: { at: string } | { fault: string } | { fed: number }) => void): Promise<void> {
  let fed = 0;
  for (const [name, read] of cells()) {
    say({ at: name });
    try {
      await read();
    } catch (error) {
      if (/call stack|memory|allocation|string length/i.test(String(error))) say({ fault: `${name}: ${error}` });
    }
    fed++;
  }
  say({ fed });
}

const port = parentPort;
if (port) await feed((message) => port.postMessage(message));

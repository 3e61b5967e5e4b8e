import { readFileSync } from "node:fs";
import { encodePaymentSignatureHeader } from "@x402/core/http";
import type { PaymentPayload } from "@x402/core/types";
import algosdk from "algosdk";
import type { Settings } from "../../packages/service/test/settings.ts";

/** What must not be seen: by name, texts each of which would betray it. */
export type Secrets = ReadonlyMap<string, ReadonlySet<string>>;

/** Characters of a text secret that betray it, and the distance between two looks. */
const PART = 16;
const STEP = 8;

/** The secrets of a service's settings, in every spelling in which a program writes them. */
export function secretsOf({ tables, variables }: Settings): Secrets {
  const secrets = new Map<string, ReadonlySet<string>>();
  const { OTEL_EXPORTER_OTLP_HEADERS: headers } = variables;
  if (headers) secrets.set("headers", textsOf(decodeURIComponent(headers.slice(headers.indexOf("=") + 1))));
  for (const [key, text] of textsIn(tables, "")) {
    const file = /^file:(.*)$/.exec(text)?.[1];
    const value = file === undefined ? text : readFileSync(file, "utf8").trim();
    const url = URL.parse(value);
    if (/mnemonic$/.test(key)) {
      secrets.set(key, wordsOf(value));
      secrets.set("the account's seed", bytesOf(algosdk.seedFromMnemonic(value)));
    } else if (/pq_seed$/.test(key)) secrets.set(key, bytesOf(Buffer.from(value, "hex")));
    else if (/\.(token|secret)$/.test(key)) secrets.set(key, textsOf(value));
    else if (url?.password)
      secrets.set(`${key}, password`, both(textsOf(url.password), textsOf(`${url.username}:${url.password}`)));
    else if (url?.search) secrets.set(`${key}, query`, textsOf(url.search.slice(url.search.indexOf("=") + 1)));
  }
  return secrets;
}

/** Every text of some settings, by its key. */
function textsIn(value: unknown, key: string): [string, string][] {
  if (typeof value === "string") return [[key, value]];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, one]) => textsIn(one, `${key}.${name}`));
}

/** Characters at the front of a signed payload that hold its signature; what follows is public, such as a genesis hash. */
const SIGNED = 170;

/** The secrets of a payment: with its signature somebody else could have it settled. */
export function secretsOfPayment(name: string, payment: PaymentPayload): Secrets {
  const signatures = signaturesIn(payment.payload).flatMap((text) => [...partsOf(text.slice(0, SIGNED))]);
  // An absent signature is a row of zeros. What the key has is public: an unsigned transaction of a group has the genesis hash, too.
  const found = signatures.filter((part) => new Set(part).size > 4 && !name.includes(part));
  return new Map([[name, both(partsOf(encodePaymentSignatureHeader(payment).slice(-60)), new Set(found))]]);
}

/** @returns the names of the secrets that a text betrays, with the part that does */
export function leaksIn(text: string, secrets: Secrets): string[] {
  const names = new Map<string, string>();
  for (const [name, spellings] of secrets) for (const spelling of spellings) names.set(spelling, name);
  const found = new Map<string, string>();
  const note = (spelling: string) => found.set(names.get(spelling) ?? "", spelling);
  for (const spelling of names.keys()) if (spelling.length !== PART && text.includes(spelling)) note(spelling);
  // Most have this length: one pass finds all of them.
  for (let i = 0; i + PART <= text.length; i++) {
    const part = text.slice(i, i + PART);
    if (names.has(part)) note(part);
  }
  return [...found].map(([name, spelling]) => `${name} (${spelling}) in …${around(text, spelling)}…`);
}

function around(text: string, found: string): string {
  const at = text.indexOf(found);
  return text.slice(Math.max(0, at - 200), at + found.length + 100);
}

/** Three words in a row, by any separator. */
function wordsOf(mnemonic: string): Set<string> {
  const words = mnemonic.trim().split(/[\s,]+/);
  const found = new Set<string>();
  for (let i = 0; i + 3 <= words.length; i++)
    for (const separator of [" ", ",", ", ", '","', '", "', "+", "%20", "-", "_", "\\n"])
      found.add(words.slice(i, i + 3).join(separator));
  for (const text of textsOf(words.join(" "))) if (!text.includes(" ")) found.add(text);
  return found;
}

function textsOf(text: string): Set<string> {
  const bytes = Buffer.from(text);
  const whole = [text, JSON.stringify(text).slice(1, -1), encodeURIComponent(text)].flatMap((one) => [...partsOf(one)]);
  return both(new Set(whole), encodingsOf(bytes));
}

function bytesOf(bytes: Uint8Array): Set<string> {
  const found = encodingsOf(Buffer.from(bytes));
  for (let i = 0; i + 6 <= bytes.length; i++) {
    const six = [...bytes.subarray(i, i + 6)];
    for (const separator of [",", ", ", " "]) found.add(six.join(separator));
    found.add(six.map((byte, n) => `"${i + n}":${byte}`).join(","));
  }
  return found;
}

/** Hex, and base64 at each of its three alignments. */
function encodingsOf(bytes: Buffer): Set<string> {
  const texts = [bytes.toString("hex"), bytes.toString("hex").toUpperCase()];
  for (const skip of [0, 1, 2]) {
    const aligned = bytes.subarray(skip, skip + Math.floor((bytes.length - skip) / 3) * 3);
    texts.push(aligned.toString("base64"), aligned.toString("base64url"));
  }
  return new Set(texts.flatMap((text) => [...partsOf(text)]));
}

function partsOf(text: string): Set<string> {
  if (text.length <= PART) return new Set([text]);
  const found = new Set<string>([text.slice(-PART)]);
  for (let i = 0; i + PART <= text.length; i += STEP) found.add(text.slice(i, i + PART));
  return found;
}

/** Long texts in a payload: a signature, a signed transaction. Ids and addresses are shorter. */
function signaturesIn(value: unknown): string[] {
  if (typeof value === "string") return value.length > 120 ? [value] : [];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(signaturesIn) : [];
}

function both(a: ReadonlySet<string>, b: ReadonlySet<string>): Set<string> {
  return a.union(b);
}

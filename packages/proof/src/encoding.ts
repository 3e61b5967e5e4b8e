/// <reference lib="esnext.typedarrays" />

import { hexToBytes } from "@noble/hashes/utils.js";
import { malformed } from "./errors.ts";

/** Whether two byte strings are the same. */
export { equalBytes } from "@noble/curves/utils.js";
/** `toHex`: lower-case hex without a prefix. `concatBytes`: the byte strings one after the other. */
export { bytesToHex as toHex, concatBytes } from "@noble/hashes/utils.js";

// Platforms older than Node 25, Chrome 140, Firefox 133 and Safari 18.2 have `atob`, but no base64 of Uint8Array
// (ES2026). In a signed format each byte string has exactly one spelling, so every decoder refuses all others.

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Encodes text as UTF-8. A lone surrogate becomes U+FFFD (Encoding standard); callers that mind check first. */
export function utf8(text: string): Uint8Array<ArrayBuffer> {
  return encoder.encode(text);
}

/** Decodes UTF-8 (RFC 3629) and keeps a byte order mark. @throws ProofError `malformed` */
export function fromUtf8(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes);
  } catch (cause) {
    throw malformed("not UTF-8", cause);
  }
}

/** Skips a byte order mark. */
const fileDecoder = new TextDecoder("utf-8", { fatal: true });

/**
 * Decodes a file's UTF-8 without the byte order mark that it may begin with.
 * @throws ProofError `malformed`, which names UTF-16
 */
export function fileText(bytes: Uint8Array): string {
  if (isUtf16(bytes)) throw malformed("it is text in UTF-16, as PowerShell's > writes it: save it as UTF-8");
  try {
    return fileDecoder.decode(bytes);
  } catch (cause) {
    throw malformed("it is not text in UTF-8", cause);
  }
}

/** Whether bytes begin with UTF-16's byte order mark, or with two ASCII characters in UTF-16. */
function isUtf16([a, b, c, d]: Uint8Array): boolean {
  const isAscii = (high = 1, low = 0) => high === 0 && low > 0 && low < 0x80;
  const hasMark = (a === 0xff && b === 0xfe) || (a === 0xfe && b === 0xff);
  return hasMark || (isAscii(a, b) && isAscii(c, d)) || (isAscii(b, a) && isAscii(d, c));
}

/** Decodes lower-case hex without a prefix. @throws ProofError `malformed` */
export function fromHex(text: string): Uint8Array<ArrayBuffer> {
  if (text.length % 2 !== 0 || !/^[0-9a-f]*$/.test(text)) throw malformed("not lower-case hex");
  return hexToBytes(text) as Uint8Array<ArrayBuffer>;
}

/** Encodes standard base64 with padding (RFC 4648 section 4). */
export function toBase64(bytes: Uint8Array): string {
  if (typeof bytes.toBase64 === "function") return bytes.toBase64();
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
}

/** Decodes standard base64: padded, unused bits zero (RFC 4648 sections 3.5 and 4). @throws ProofError `malformed` */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  const bytes = decodeBase64(text, "base64");
  // The platform's decoder skips ASCII white space, which shows in the length.
  if (text.length !== 4 * Math.ceil(bytes.length / 3)) throw malformed("not canonical base64");
  return bytes;
}

/** Encodes base64url without padding (RFC 4648 section 5, RFC 7515 section 2). */
export function toBase64Url(bytes: Uint8Array): string {
  if (typeof bytes.toBase64 === "function") return bytes.toBase64({ alphabet: "base64url", omitPadding: true });
  return toBase64(bytes).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** Decodes base64url without padding, unused bits zero. @throws ProofError `malformed` */
export function fromBase64Url(text: string): Uint8Array<ArrayBuffer> {
  const bytes = decodeBase64(text + "=".repeat(-text.length & 3), "base64url");
  if (text.length !== Math.ceil((bytes.length * 4) / 3)) throw malformed("not canonical base64url");
  return bytes;
}

function decodeBase64(padded: string, alphabet: "base64" | "base64url"): Uint8Array<ArrayBuffer> {
  try {
    if (typeof Uint8Array.fromBase64 === "function")
      return Uint8Array.fromBase64(padded, { alphabet, lastChunkHandling: "strict" });
    return decodeByAtob(padded, alphabet);
  } catch (cause) {
    throw malformed(`not canonical ${alphabet}`, cause);
  }
}

function decodeByAtob(padded: string, alphabet: "base64" | "base64url"): Uint8Array<ArrayBuffer> {
  if (alphabet === "base64url" && /[+/]/.test(padded)) throw malformed("the other alphabet");
  const standard = alphabet === "base64" ? padded : padded.replaceAll("-", "+").replaceAll("_", "/");
  const binary = atob(standard);
  // `atob` also accepts missing padding, white space and unused bits.
  if (btoa(binary) !== standard) throw malformed("another spelling");
  return Uint8Array.from(binary, (character) => character.charCodeAt(0));
}

const BASE32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
const NOT_BASE32 = 0xff;
const BASE32_VALUE = new Uint8Array(128).fill(NOT_BASE32);
for (let value = 0; value < 32; value++) BASE32_VALUE[BASE32.charCodeAt(value)] = value;

/** Encodes upper-case base32 without padding (RFC 4648 section 6), as in Algorand's ids and addresses. */
export function toBase32(bytes: Uint8Array): string {
  let text = "";
  let pending = 0;
  let bits = 0;
  for (const byte of bytes) {
    pending = (pending << 8) | byte;
    for (bits += 8; bits >= 5; bits -= 5) text += BASE32[(pending >> (bits - 5)) & 31];
    pending &= (1 << bits) - 1;
  }
  return bits === 0 ? text : text + BASE32[(pending << (5 - bits)) & 31];
}

/** Decodes upper-case base32 without padding, unused bits zero. @throws ProofError `malformed` */
export function fromBase32(text: string): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(Math.floor((text.length * 5) / 8));
  let pending = 0;
  let bits = 0;
  let length = 0;
  for (let index = 0; index < text.length; index++) {
    const value = BASE32_VALUE[text.charCodeAt(index)] ?? NOT_BASE32;
    if (value === NOT_BASE32) throw malformed("not base32");
    pending = (pending << 5) | value;
    bits += 5;
    if (bits >= 8) {
      bits -= 8;
      bytes[length++] = pending >> bits;
      pending &= (1 << bits) - 1;
    }
  }
  if (pending !== 0 || bits >= 5) throw malformed("not canonical base32");
  return bytes;
}

/** Order of two byte strings: negative, zero or positive; a prefix comes first. */
export function compareBytes(a: Uint8Array, b: Uint8Array): number {
  const shared = Math.min(a.length, b.length);
  for (let index = 0; index < shared; index++) {
    const difference = (a[index] as number) - (b[index] as number);
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}

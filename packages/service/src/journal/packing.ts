import { hash } from "node:crypto";
import { promisify } from "node:util";
import { constants, zstdCompress, zstdDecompress, zstdDecompressSync } from "node:zlib";

/*
 * A call at rest is read rarely and kept for ever: its row's large parts become one zstd frame. It gives the same text back,
 * byte for byte, which is checked before the row changes.
 */

/** What is packed of a row, under the names of its columns. */
export type Parts = {
  payer: string;
  subject_hash: string;
  /** JSON, as the rest. */
  request: string;
  progress: string;
  bundle: string | null;
  /** Oldest first, `raw` in hex, lower case. */
  attempts: string;
};

export type Dictionary = {
  /** SHA-256 of the content. */
  hash: Uint8Array;
  /** `kindOf` the calls that it was learnt from. */
  kind: string;
  content: Uint8Array;
};

const compress = promisify(zstdCompress);
const decompress = promisify(zstdDecompress);
/** Higher levels take twice the time and save nothing: what is left is signatures. */
const PARAMS = { [constants.ZSTD_c_compressionLevel]: 1, [constants.ZSTD_c_checksumFlag]: 1 };
/** Some times the largest row's text: a request of a thousand transactions, and a bundle of `MAX_IN_ROW`. */
const MAX_TEXT_BYTES = 4 * 1024 * 1024;

/**
 * Packs a row's parts.
 *
 * @param dictionary must be at hand to unpack it
 * @returns a zstd frame
 */
export async function pack(parts: Parts, dictionary?: Dictionary): Promise<Uint8Array> {
  const packed = await frameOf(textOf(parts), dictionary);
  const again = unpack(packed, dictionary?.content);
  const isAsItWas = Object.entries(parts).every(([name, part]) => again[name as keyof Parts] === part);
  return isAsItWas ? packed : frameOf(JSON.stringify(parts), dictionary);
}

function frameOf(text: string, dictionary: Dictionary | undefined): Promise<Uint8Array> {
  return compress(text, { params: PARAMS, ...(dictionary && { dictionary: dictionary.content }) });
}

/** @param packed of `pack`, with the dictionary that it was given. @throws Error when a byte of them is another */
export function unpack(packed: Uint8Array, dictionary: Uint8Array | undefined): Parts {
  return partsOf(zstdDecompressSync(packed, optionsWith(dictionary)).toString());
}

/** As `unpack`, beside the event loop. */
export async function unpackBeside(packed: Uint8Array, dictionary: Uint8Array | undefined): Promise<Parts> {
  return partsOf((await decompress(packed, optionsWith(dictionary))).toString());
}

function optionsWith(dictionary: Uint8Array | undefined) {
  return { maxOutputLength: MAX_TEXT_BYTES, ...(dictionary && { dictionary: Buffer.from(dictionary) }) };
}

/** What the JSON of parts begins with that do not come back from `textOf`. */
const AS_JSON = "{";

/** Members whose values are base64 or hex of text that zstd can shorten only as it was before. */
const CODED = /"(receipt|raw)":"([^"\\]+)"/g;
const TAKEN_OUT = /"(receipt|raw)":0/g;

/** The text that is compressed: the lengths of all pieces in a line, and the pieces. */
export function textOf(parts: Parts): string {
  const { payer, subject_hash, request, progress, bundle, attempts } = parts;
  const decoded: string[] = [];
  const bare = (json: string) =>
    json.replace(CODED, (member, name: string, value: string) => {
      const text =
        name === "raw" ? Buffer.from(value, "hex").toString("latin1") : Buffer.from(value, "base64").toString();
      if (encoded(name, text) !== value) return member;
      decoded.push(text);
      return `"${name}":0`;
    });
  const pieces = [bundle, request, bare(progress), bare(attempts), ...decoded];
  const head = [payer, subject_hash, ...pieces.map((piece) => piece?.length ?? null)];
  return `${JSON.stringify(head)}\n${pieces.join("")}`;
}

function partsOf(text: string): Parts {
  if (text.startsWith(AS_JSON)) return JSON.parse(text) as Parts;
  let at = text.indexOf("\n") + 1;
  const [payer, subject_hash, ...lengths] = JSON.parse(text.slice(0, at)) as [string, string, ...(number | null)[]];
  const pieces = lengths.map((length) => {
    at += length ?? 0;
    return length === null ? null : text.slice(at - length, at);
  });
  const [bundle = null, request, progress, attempts, ...decoded] = pieces;
  const whole = (json: string | null | undefined) =>
    (json ?? "").replace(TAKEN_OUT, (_, name: string) => `"${name}":"${encoded(name, decoded.shift() ?? "")}"`);
  return {
    payer,
    subject_hash,
    request: request ?? "",
    progress: whole(progress),
    bundle,
    attempts: whole(attempts),
  };
}

function encoded(name: string, text: string): string {
  return name === "raw" ? Buffer.from(text, "latin1").toString("hex") : Buffer.from(text).toString("base64");
}

/**
 * Calls of one kind have most of their text in common: rail, what was bought, how it ended, the attestor's key, and whether
 * they are pruned, so that these need no dictionary that holds what was dropped.
 */
export function kindOf(rail: string, state: string, { request, bundle }: Parts): string {
  const { subject, payload } = JSON.parse(request) as { subject?: { kind: string; chain: string }; payload?: object };
  const key = /"pqPublicKey":"([^"]{0,16})/.exec(bundle ?? "")?.[1];
  return [rail, state, subject?.kind, subject?.chain, key, ...(payload ? [] : ["pruned"])].join(" ");
}

/** Characters: a shorter piece that two texts share is not worth its place in a dictionary. */
const SHARED_AT_LEAST = 12;
/** Characters of a text that a dictionary is learnt from, at most: one with a large source would teach only that. */
const MAX_LEARNT = 64 * 1024;

/** What two texts of `textOf` have in common, and thus nothing that only one call has: no signature, no payment. */
export function learn(kind: string, one: string, other: string): Dictionary | undefined {
  if (Math.max(one.length, other.length) > MAX_LEARNT) return undefined;
  const pieces = new Set<string>();
  for (let i = 0; i + SHARED_AT_LEAST <= other.length; i++) pieces.add(other.slice(i, i + SHARED_AT_LEAST));
  let shared = "";
  let end = 0;
  for (let i = 0; i + SHARED_AT_LEAST <= one.length; i++) {
    if (!pieces.has(one.slice(i, i + SHARED_AT_LEAST))) continue;
    shared += one.slice(Math.max(end, i), i + SHARED_AT_LEAST);
    end = i + SHARED_AT_LEAST;
  }
  const content = Buffer.from(shared);
  return { kind, content, hash: hash("sha256", content, "buffer") };
}

/**
 * The dictionaries of a journal, one for each kind. The first call of a kind is packed without; with the second one is
 * learnt.
 */
export function createDictionaries(known: Iterable<Dictionary>) {
  const byKind = new Map([...known].map((dictionary) => [dictionary.kind, dictionary]));
  const first = new Map<string, string>();
  return {
    /** @returns the dictionary for a call, and whether it is new: it MUST be committed no later than what it packs */
    for(row: Parts & { rail: string; state: string }): { dictionary?: Dictionary; isNew: boolean } {
      const kind = kindOf(row.rail, row.state, row);
      const known = byKind.get(kind);
      if (known) return { dictionary: known, isNew: false };
      const text = textOf(row);
      const earlier = first.get(kind);
      const learnt = earlier === undefined ? undefined : learn(kind, earlier, text);
      if (learnt) byKind.set(kind, learnt);
      if (learnt) first.delete(kind);
      else if (text.length <= MAX_LEARNT) first.set(kind, text);
      return learnt ? { dictionary: learnt, isNew: true } : { isNew: false };
    },
  };
}

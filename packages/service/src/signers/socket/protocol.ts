import { concatBytes, fromUtf8, utf8 } from "@attestd/proof/encoding";
import type { SignerFailure } from "../../lib/errors.ts";
import { type AccountAlgorithm, ALGORITHMS, KEY_FORMS, type KeyUse, type SignedContext } from "../signer.ts";

/*
 * The protocol between a service and `attestd signer`. Both directions carry frames: 4 bytes of length, big-endian, and so
 * many bytes, which begin with the 4-byte id of the request. Answers come in any order.
 *
 *   request   id, 0                                             describe
 *             id, 1 (pq) or 2 (account), length of the record (2 bytes), key record, message
 *   answer    id, 0, signature or description                   done
 *             id, 1 refused, 2 throttled; UTF-8 of the reason
 */

/** The size limit of a request, in bytes: a bundle has at most 2 MiB. */
export const MAX_REQUEST = 2 * 2 ** 20 + 8_192;
/** The size limit of an answer, in bytes. */
export const MAX_ANSWER = 4_096;
/** The size limit of a key record, in bytes. */
export const MAX_RECORD = 4_096;

const USES = [undefined, "pq", "account"] as const;
const FAILURES = [undefined, "refused", "throttled"] as const satisfies (SignerFailure | undefined)[];
/** Precedes the keys in a description. */
const VERSION = 2;
/** The account key's algorithms; a description has the index. */
const ACCOUNT_ALGORITHMS = ALGORITHMS.account;

export type Request =
  | { id: number; ask: "describe" }
  | ({ id: number; ask: KeyUse; message: Uint8Array } & SignedContext);
export type Answer = { id: number } & ({ done: Uint8Array } | { failure: "refused" | "throttled"; reason: string });
/** The signer's keys, raw; its account and its ledger's genesis hash, 32 bytes each. */
export type Description = {
  keys: Record<KeyUse, Uint8Array>;
  /** The account key's algorithm. */
  algorithm: AccountAlgorithm;
  account: Uint8Array;
  genesisHash: Uint8Array;
};

/** The peer does not speak the protocol. */
export class ProtocolError extends Error {
  override readonly name = "ProtocolError";
}

export function encodeRequest(request: Request): Uint8Array {
  if (request.ask === "describe") return frame(request.id, Uint8Array.of(0));
  const { id, ask, message, keyRecord = new Uint8Array() } = request;
  const { length } = keyRecord;
  return frame(id, Uint8Array.of(USES.indexOf(ask), length >> 8, length & 0xff), keyRecord, message);
}

/** @param body of a frame. @throws ProtocolError */
export function decodeRequest(body: Uint8Array): Request {
  const { id, rest } = split(body);
  const [op, high = 0, low = 0] = rest;
  if (op === 0 && rest.length === 1) return { id, ask: "describe" };
  const ask = USES[op ?? 0];
  const end = 3 + high * 256 + low;
  if (!ask || rest.length < 3 || end > rest.length || end - 3 > MAX_RECORD) throw new ProtocolError("not a request");
  return { id, ask, message: rest.subarray(end), ...(end > 3 && { keyRecord: rest.subarray(3, end) }) };
}

export function encodeAnswer(answer: Answer): Uint8Array {
  if ("done" in answer) return frame(answer.id, Uint8Array.of(0), answer.done);
  return frame(answer.id, Uint8Array.of(FAILURES.indexOf(answer.failure)), utf8(answer.reason.slice(0, 400)));
}

/** @param body of a frame. @throws ProtocolError; ProofError for a reason that is not text */
export function decodeAnswer(body: Uint8Array): Answer {
  const { id, rest } = split(body);
  const [status] = rest;
  if (status === 0) return { id, done: rest.subarray(1) };
  const failure = FAILURES[status ?? 0];
  if (!failure) throw new ProtocolError("not an answer");
  return { id, failure, reason: fromUtf8(rest.subarray(1)) };
}

export function encodeDescription({ keys, algorithm, account, genesisHash }: Description): Uint8Array {
  const head = Uint8Array.of(VERSION, ACCOUNT_ALGORITHMS.indexOf(algorithm));
  return concatBytes(head, keys.pq, keys.account, account, genesisHash);
}

/** @throws ProtocolError */
export function decodeDescription(bytes: Uint8Array): Description {
  const algorithm = ACCOUNT_ALGORITHMS[bytes[1] ?? ACCOUNT_ALGORITHMS.length];
  const lengths = [KEY_FORMS["ml-dsa-65"].publicKey, algorithm ? KEY_FORMS[algorithm].publicKey : 0, 32, 32] as const;
  const whole = lengths.reduce<number>((sum, length) => sum + length, 2);
  if (bytes[0] !== VERSION || algorithm === undefined || bytes.length !== whole)
    throw new ProtocolError("not a description of this version");
  let end = 2;
  const take = (length: number) => {
    end += length;
    return bytes.slice(end - length, end);
  };
  const [pq, account] = [take(lengths[0]), take(lengths[1])];
  return { keys: { pq, account }, algorithm, account: take(32), genesisHash: take(32) };
}

function frame(id: number, ...parts: Uint8Array[]): Uint8Array {
  const length = parts.reduce((sum, part) => sum + part.length, 4);
  const head = Buffer.alloc(8);
  head.writeUInt32BE(length, 0);
  head.writeUInt32BE(id, 4);
  return concatBytes(head, ...parts);
}

function split(body: Uint8Array): { id: number; rest: Uint8Array } {
  if (body.length < 5) throw new ProtocolError("a frame without a request");
  return { id: Buffer.from(body.buffer, body.byteOffset, 4).readUInt32BE(0), rest: body.subarray(4) };
}

/** Splits a stream into the bodies of its frames. */
export class FrameReader {
  readonly #max: number;
  #parts: Uint8Array[] = [];
  #held = 0;

  /** @param max bytes of one body */
  constructor(max: number) {
    this.#max = max;
  }

  /** Whether a frame has begun and not ended. */
  get isWithin(): boolean {
    return this.#held > 0;
  }

  /** @returns the bodies that are complete now. @throws ProtocolError when a frame is too long */
  push(chunk: Uint8Array): Uint8Array[] {
    this.#parts.push(chunk);
    this.#held += chunk.length;
    const bodies: Uint8Array[] = [];
    for (;;) {
      const length = this.#length();
      if (length !== undefined && length > this.#max) throw new ProtocolError(`a frame of ${length} bytes`);
      if (length === undefined || this.#held < 4 + length) return bodies;
      const all = this.#parts.length === 1 ? (this.#parts[0] as Uint8Array) : concatBytes(...this.#parts);
      bodies.push(new Uint8Array(all.subarray(4, 4 + length)));
      this.#parts = all.length > 4 + length ? [all.subarray(4 + length)] : [];
      this.#held = all.length - 4 - length;
    }
  }

  #length(): number | undefined {
    if (this.#held < 4) return undefined;
    if ((this.#parts[0] as Uint8Array).length < 4) this.#parts = [concatBytes(...this.#parts)];
    const [first] = this.#parts as [Uint8Array];
    return Buffer.from(first.buffer, first.byteOffset, 4).readUInt32BE(0);
  }
}

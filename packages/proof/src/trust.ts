import { isAlgorandCaip2 } from "./algorand/network.ts";
import { algorandAddress } from "./bundle-members.ts";
import { compare, type Finding } from "./chain-format.ts";
import { fromBase64, toBase64Url, toHex } from "./encoding.ts";
import { formatError } from "./errors.ts";
import { canonicalBytes } from "./json/canonical.ts";
import { childPointer, jsonValue } from "./json/parse.ts";
import { base64, base64Url32Bytes, constant, integer, object, type Reader, string } from "./json/readers.ts";
import type { KeyStatus } from "./report.ts";
import { sha256 } from "./sha2.ts";
import {
  type Crypto,
  ML_DSA_65_PUBLIC_KEY_LENGTH,
  ML_DSA_65_SIGNATURE_LENGTH,
  nobleCrypto,
  verifySignature,
} from "./signature.ts";

/** A key of an attestor, and the rounds in which it is valid. */
export type KeyEntry = {
  type: "attestor-key";
  version: 1;
  kid: string;
  /** base64url SHA-256 of the raw public key: the `a` of notes. */
  keySha256: string;
  /** Raw ML-DSA-65 public key, 1952 bytes, base64. */
  pqPublicKey: string;
  /** The account that sends the attestation transactions of this key, and every key note: the same in all entries. */
  algorandAddress: string;
  /** Origin of the service that owns the key, such as `https://attestd.example`: ASCII, in lower case. */
  origin: string;
  /** First round of the key. */
  fromRound: number;
  /** The round from which the key is no longer used: its successor's `fromRound`. */
  untilRound?: number;
  /** From this round on no signature of this key counts; before it, only records that the ledger itself shows. */
  revokedRound?: number;
  /** The previous key's ML-DSA-65 signature over `keyEntryBytes`, base64. The first key has none. */
  endorsement?: string;
};

/** An attestor's keys, oldest first: the content of `/.well-known/attestor-keys.json`. */
export type KeyHistory = {
  version: 1;
  /** CAIP-2 of the ledger on which the attestor's notes are recorded. */
  ledger: string;
  keys: KeyEntry[];
};

/** Keys that a verifier knows only by their thumbprints. */
export type PinnedKeys = {
  kids: string[];
  /** CAIP-2; default: Algorand MainNet. */
  ledger?: string;
};

/** The keys that a verifier trusts. */
export type Trust = KeyHistory | PinnedKeys;

export type KeyIdentity = Pick<KeyEntry, "kid" | "keySha256">;

/** A public key as a JSON Web Key of type AKP (RFC 9964). @param publicKey raw */
export function jwk(publicKey: Uint8Array) {
  return { kty: "AKP", alg: "ML-DSA-65", pub: toBase64Url(publicKey), kid: keyId(publicKey) } as const;
}

/**
 * Returns a key's `kid`, its RFC 7638 thumbprint: base64url SHA-256 of `{"alg":…,"kty":…,"pub":…}`. @param publicKey
 * raw
 */
export function keyId(publicKey: Uint8Array): string {
  return toBase64Url(sha256(canonicalBytes({ alg: "ML-DSA-65", kty: "AKP", pub: toBase64Url(publicKey) })));
}

/** @param publicKey raw */
export function keyIdentity(publicKey: Uint8Array): KeyIdentity {
  return { kid: keyId(publicKey), keySha256: toBase64Url(sha256(publicKey)) };
}

/** Identifies a bundle's key. @param pqPublicKey raw, base64 */
export function identify(trust: Trust | undefined, pqPublicKey: string): KeyIdentity {
  // `parseKeyHistory` computed the identities of a history's keys; hashing a key again costs as much as parsing it.
  const known = trust && "keys" in trust ? trust.keys.find((entry) => entry.pqPublicKey === pqPublicKey) : undefined;
  return known ?? keyIdentity(fromBase64(pqPublicKey));
}

/** A bundle's key status, and the faults in the key's use. */
export type KeyJudgement = { status: KeyStatus; findings: Finding[] };

/** Judges a bundle's key. @param claim the bundle's own `attest.round` and `attestor.algorandAddress` */
export function judgeKey(trust: Trust, kid: string, claim: { round: number; algorandAddress: string }): KeyJudgement {
  const unknown: KeyJudgement = { status: "unknown", findings: [{ pointer: KEY_POINTER, stated: kid }] };
  if ("kids" in trust) return trust.kids.includes(kid) ? { status: "current", findings: [] } : unknown;
  const entry = trust.keys.find((candidate) => candidate.kid === kid);
  if (entry === undefined) return unknown;

  const { fromRound, untilRound = Number.POSITIVE_INFINITY, revokedRound = Number.POSITIVE_INFINITY } = entry;
  const endRound = Math.min(untilRound, revokedRound);
  const findings: Finding[] = [];
  // A revoked key alone proves nothing, because its holder can write any round into a bundle: see `withChain`.
  if (entry.revokedRound !== undefined)
    findings.push({ pointer: KEY_POINTER, stated: kid, computed: `revoked in round ${revokedRound}` });
  if (claim.round < fromRound || claim.round >= endRound) {
    const span =
      endRound === Number.POSITIVE_INFINITY ? `from ${fromRound}` : `from ${fromRound} to before ${endRound}`;
    findings.push({ pointer: "/attest/round", stated: String(claim.round), computed: span });
  }
  findings.push(...compare("/attestor/algorandAddress", claim.algorandAddress, entry.algorandAddress));
  return { status: keyStatusOf(entry), findings };
}

export const KEY_POINTER = "/attestor/pqPublicKey";

/** Returns a key's status in its history. */
export function keyStatusOf({ untilRound, revokedRound }: KeyEntry): Exclude<KeyStatus, "unknown"> {
  if (revokedRound !== undefined) return "revoked";
  return untilRound === undefined ? "current" : "retired";
}

/** Returns the bytes that an endorsement signs: RFC 8785 of the entry as first published. */
export function keyEntryBytes(entry: KeyEntry): Uint8Array<ArrayBuffer> {
  const { endorsement: _endorsement, untilRound: _untilRound, revokedRound: _revokedRound, ...endorsed } = entry;
  return canonicalBytes(endorsed);
}

/** Returns the `k` of the note that announces a key: SHA-256 of `keyEntryBytes`, hex. */
export function keyEntryHash(entry: KeyEntry): string {
  return toHex(sha256(keyEntryBytes(entry)));
}

/**
 * Reads a key history, and finds altered, removed and inserted entries and a cut end. It recomputes every key's `kid`
 * and SHA-256. Each key but the first must be endorsed by its predecessor, all must have the first one's account, and
 * their spans must be consecutive, the last one open. Nothing endorses the first entry's account and the revocations:
 * check those against an earlier copy (`requireContinuation`) or the ledger (`checkKeyNotes`).
 * @param input text or UTF-8, or a value as `parseJson` returns it
 * @throws ProofError `format`; `json` for a text
 */
export function parseKeyHistory(input: unknown, crypto: Pick<Crypto, "mldsa65"> = nobleCrypto): KeyHistory {
  const history = readHistory(jsonValue(input), "");
  history.keys.forEach((entry, index) => {
    const pointer = childPointer("/keys", index);
    if (entry.algorandAddress !== accountOf(history))
      throw formatError(`${pointer}/algorandAddress`, "is not the first key's account: an attestor has one for life");
    checkSuccession(entry, history.keys[index - 1], history.keys[index + 1], pointer, crypto);
  });
  const repeated = history.keys.findIndex((entry, index) => history.keys.findIndex((k) => k.kid === entry.kid) < index);
  if (repeated !== -1) throw formatError(`/keys/${repeated}/kid`, "is in the history already");
  return history;
}

/**
 * Returns the attestor's account. Only its key notes count: a thief of a key can endorse a successor, but cannot send
 * its note.
 */
export function accountOf({ keys: [first] }: KeyHistory): string {
  return (first as KeyEntry).algorandAddress;
}

/** The ASCII serialization of an origin (RFC 6454 section 6.2). */
const ORIGIN = /^https?:\/\/(?:[a-z0-9._-]{1,253}|\[[0-9a-f:.]{2,45}\])(?::[1-9][0-9]{0,4})?$/;

const readEntryMembers: Reader<KeyEntry> = object(
  {
    type: constant("attestor-key"),
    version: constant(1),
    kid: base64Url32Bytes,
    keySha256: base64Url32Bytes,
    pqPublicKey: base64(ML_DSA_65_PUBLIC_KEY_LENGTH),
    algorandAddress,
    origin: string("an origin, such as https://attestd.example", ORIGIN),
    fromRound: integer(0),
  },
  { untilRound: integer(1), revokedRound: integer(0), endorsement: base64(ML_DSA_65_SIGNATURE_LENGTH) },
);

const readKeyEntry: Reader<KeyEntry> = (value, pointer) => {
  const entry = readEntryMembers(value, pointer);
  const { kid, keySha256 } = keyIdentity(fromBase64(entry.pqPublicKey));
  if (entry.kid !== kid) throw formatError(`${pointer}/kid`, "is not the key's thumbprint");
  if (entry.keySha256 !== keySha256) throw formatError(`${pointer}/keySha256`, "is not the key's SHA-256");
  return entry;
};

/**
 * Reads one entry, and recomputes its `kid` and SHA-256; an endorsement is not verified.
 * @param input text or UTF-8, or a value as `parseJson` returns it
 * @throws ProofError `format`; `json` for a text
 */
export function parseKeyEntry(input: unknown): KeyEntry {
  return readKeyEntry(jsonValue(input), "");
}

const readHistory: Reader<KeyHistory> = object({
  version: constant(1),
  ledger: string("CAIP-2 of an Algorand network", isAlgorandCaip2),
  keys(value, pointer) {
    if (!Array.isArray(value) || value.length === 0) throw formatError(pointer, "must be an array of keys");
    return value.map((entry, index) => readKeyEntry(entry, childPointer(pointer, index)));
  },
});

function checkSuccession(
  entry: KeyEntry,
  previous: KeyEntry | undefined,
  next: KeyEntry | undefined,
  pointer: string,
  crypto: Pick<Crypto, "mldsa65">,
): void {
  if (entry.untilRound !== next?.fromRound)
    throw formatError(
      `${pointer}/untilRound`,
      next
        ? "is not where the next key begins: an entry was altered, removed or inserted"
        : "no key follows: the end was cut off",
    );
  if (entry.untilRound !== undefined && entry.untilRound <= entry.fromRound)
    throw formatError(`${pointer}/untilRound`, "must be after fromRound");
  if (previous === undefined) {
    if (entry.endorsement !== undefined)
      throw formatError(`${pointer}/endorsement`, "the first key has none: the one before was removed");
  } else if (entry.endorsement === undefined) {
    throw formatError(`${pointer}/endorsement`, "missing: only the first key has none");
  } else if (
    !verifySignature(fromBase64(previous.pqPublicKey), keyEntryBytes(entry), fromBase64(entry.endorsement), crypto)
  ) {
    throw formatError(`${pointer}/endorsement`, "was not made by the previous key: one of the two entries was altered");
  }
}

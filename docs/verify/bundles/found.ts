import { blockHash, type InclusionBundle, toBase64, toHex } from "@attestd/proof";
import { sha256 } from "@noble/hashes/sha2.js";
import { type Case, fails, is } from "./case.ts";
import { altered, inclusion, payment, reversedHeader, withNote } from "./ingredients.ts";

/* One bundle of each kind that verifiers once judged differently, as npm run fuzz:verify found them. */

/** The inclusion with another header, and all that is said of it right. */
function inHeader(bytes: Uint8Array): InclusionBundle {
  return altered(inclusion, ({ block, attest }) => {
    const [hash, hashSha256] = [blockHash(bytes), toHex(sha256(bytes))];
    attest.note = attest.note.replace(block.blockHash, hash).replace(block.hashSha256, hashSha256);
    Object.assign(block, { blockHash: hash, hashSha256, headerBase64: toBase64(bytes) });
  });
}

export const FOUND: readonly Case[] = [
  is("an inclusion in a header out of order", inHeader(reversedHeader), fails("blockHash", "inclusion", "note")),
  // Canonical JSON leaves these as they are; some writers escape them, and have another signature.
  is("a note with separators of lines", withNote(payment, /$/, "\u2028\u2029"), fails("note")),
  is("a note with letters that HTML escapes", withNote(payment, /$/, "<>&\u007f"), fails("note")),
  is("a note with control characters", withNote(payment, /$/, "\b\f\n\r\t\u0001"), fails("note")),
];

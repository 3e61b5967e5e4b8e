import type { InclusionBundle } from "@attestd/proof";
import { blockHash } from "@attestd/proof/algorand";
import { toBase64, toHex, utf8 } from "@attestd/proof/encoding";
import { sha256 } from "@noble/hashes/sha2.js";
import { type Case, fails, is } from "./case.ts";
import { altered, inclusion, ofBytes, payment, reversedHeader, withNote } from "./ingredients.ts";

/* One bundle of each kind that verifiers once judged differently, as npm run fuzz:verify found them. */

/** The inclusion with another header, and all that is said of it right. */
function inHeader(bytes: Uint8Array): InclusionBundle {
  return altered(inclusion, ({ block, attest }) => {
    const [hash, hashSha256] = [blockHash(bytes), toHex(sha256(bytes))];
    attest.note = attest.note.replace(block.blockHash, hash).replace(block.hashSha256, hashSha256);
    Object.assign(block, { blockHash: hash, hashSha256, headerBase64: toBase64(bytes) });
  });
}

/** `{type: "pay", z\x99: false}`: false is what a struct leaves out. */
const unnamed = Uint8Array.of(0x82, 0xa4, ...utf8("type"), 0xa3, ...utf8("pay"), 0xa2, 0x7a, 0x99, 0xc2);

export const FOUND: readonly Case[] = [
  is("an inclusion in a header out of order", inHeader(reversedHeader), fails("blockHash", "inclusion", "note")),
  is("an empty member whose name is not UTF-8", ofBytes(unnamed), fails("transactionId", "note")),
  // Canonical JSON leaves these as they are; some writers escape them, and have another signature.
  is("a note with separators of lines", withNote(payment, /$/, "\u2028\u2029"), fails("note")),
  is("a note with letters that HTML escapes", withNote(payment, /$/, "<>&\u007f"), fails("note")),
  is("a note with control characters", withNote(payment, /$/, "\b\f\n\r\t\u0001"), fails("note")),
];

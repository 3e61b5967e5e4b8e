import { createPrivateKey, sign } from "node:crypto";
import { base58 } from "@scure/base";
import { describe, expect, test } from "vitest";
import { paying, VERSION_1 } from "../../test/fakes/solana-payments.ts";
import { messageBytesOf, transactionIdOf } from "./solana-wire.ts";

/** Makes the ed25519 key whose seed is one byte, repeated (RFC 8410). */
function keyOf(seed: number) {
  const key = Buffer.concat([Buffer.from("302e020100300506032b657004220420", "hex"), Buffer.alloc(32, seed)]);
  return createPrivateKey({ key, format: "der", type: "pkcs8" });
}

describe("a Solana transaction on the wire", () => {
  test("of version 1 has its signatures last: what its fee payer's key signs is its message, and that signature its id", () => {
    const message = messageBytesOf(VERSION_1) as Uint8Array;
    // RFC 8032 signatures are deterministic. @solana/kit 8.4.0 made the transaction with the seeds 0x01 and 0x02.
    const signatures = [1, 2].map((seed) => sign(null, message, keyOf(seed)));
    expect(Buffer.concat([message, ...signatures])).toEqual(VERSION_1);
    expect(transactionIdOf(VERSION_1)).toBe(base58.encode(signatures[0] as Uint8Array));
  });

  test("of version 0 has its signatures first", async () => {
    const wire = Buffer.from((await paying()).payload.transaction as string, "base64");
    expect(messageBytesOf(wire)).toEqual(wire.subarray(129));
    expect(transactionIdOf(wire)).toBe(base58.encode(wire.subarray(1, 65)));
  });

  test.each([
    ["of no bytes", ""],
    ["of version 2", "82".repeat(300)],
    ["with fewer bytes than signatures", "81ff000000"],
    ["of version 1 without a signature", "8100000000"],
    ["with an older form's count of signatures and no bytes", "02"],
  ])("%s has no id", (_, hex) => {
    expect(transactionIdOf(Buffer.from(hex, "hex"))).toBeUndefined();
  });
});

import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { fromHex } from "../encoding.ts";
import { verifyEd25519 } from "./ed25519.ts";

type Vector = { source: string; publicKey: string; message: string; signature: string; valid: boolean };
const { vectors }: { vectors: Vector[] } = JSON.parse(
  readFileSync(new URL("../../test/recorded/ed25519.json", import.meta.url), "utf8"),
);

describe("Ed25519", () => {
  it.each(vectors)("is verified as go-algorand's consensus does: $source", (vector) => {
    const { publicKey, message, signature, valid } = vector;
    expect(verifyEd25519(fromHex(publicKey), fromHex(message), fromHex(signature))).toBe(valid);
  });
});

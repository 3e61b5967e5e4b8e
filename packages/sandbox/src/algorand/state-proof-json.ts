import { getBytes, getInteger, getMap, type MsgpackMap, type MsgpackValue } from "@attestd/proof/algorand";
import { toBase64 } from "@attestd/proof/encoding";
import type { Json, JsonObject } from "../json.ts";

/** `state-proof-transaction` in the indexer's JSON. */
export function stateProofJson(txn: MsgpackMap): JsonObject {
  const message = part(txn, "spmsg");
  const proof = part(txn, "sp");
  const reveals = [...part(proof, "r")].sort(([a], [b]) => Number(a) - Number(b));
  return {
    message: {
      "block-headers-commitment": bytes(message, "b"),
      "first-attested-round": getInteger(message, "f"),
      "latest-attested-round": getInteger(message, "l"),
      "ln-proven-weight": getInteger(message, "P"),
      "voters-commitment": bytes(message, "v"),
    },
    "state-proof": {
      "part-proofs": merkleProofJson(part(proof, "P")),
      "positions-to-reveal": list(proof.get("pr")) as Json[],
      reveals: reveals.map(([position, reveal]) => revealJson(Number(position), asMap(reveal))),
      "salt-version": getInteger(proof, "v"),
      "sig-commit": bytes(proof, "c"),
      "sig-proofs": merkleProofJson(part(proof, "S")),
      "signed-weight": getInteger(proof, "w"),
    },
    "state-proof-type": getInteger(txn, "sptype"),
  };
}

function revealJson(position: number, reveal: MsgpackMap): JsonObject {
  const participant = part(reveal, "p");
  const verifier = part(participant, "p");
  const slot = part(reveal, "s");
  const signature = part(slot, "s");
  return {
    participant: {
      verifier: { commitment: bytes(verifier, "cmt"), "key-lifetime": getInteger(verifier, "lf") },
      weight: getInteger(participant, "w"),
    },
    position,
    "sig-slot": {
      "lower-sig-weight": getInteger(slot, "l"),
      signature: {
        "falcon-signature": bytes(signature, "sig"),
        "merkle-array-index": getInteger(signature, "idx"),
        proof: merkleProofJson(part(signature, "prf")),
        "verifying-key": bytes(part(signature, "vkey"), "k"),
      },
    },
  };
}

function merkleProofJson(proof: MsgpackMap): JsonObject {
  return {
    "hash-factory": { "hash-type": getInteger(part(proof, "hsh"), "t") },
    path: list(proof.get("pth")).map((digest) => (digest instanceof Uint8Array ? toBase64(digest) : "")),
    "tree-depth": getInteger(proof, "td"),
  };
}

function bytes(map: MsgpackMap, key: string): string | undefined {
  const value = getBytes(map, key);
  return value && toBase64(value);
}

function part(map: MsgpackMap, key: string): MsgpackMap {
  return getMap(map, key) ?? new Map();
}

function asMap(value: MsgpackValue): MsgpackMap {
  return value instanceof Map ? value : new Map();
}

function list(value: MsgpackValue | undefined): MsgpackValue[] {
  return Array.isArray(value) ? value : [];
}

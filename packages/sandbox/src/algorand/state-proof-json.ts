import { getInteger, type MsgpackMap } from "@attestd/proof/algorand";
import type { Json, JsonObject } from "../json.ts";
import { asMap, base64, bytesJson, listOf, part } from "./members.ts";

/** `state-proof-transaction` in the indexer's JSON. */
export function stateProofJson(txn: MsgpackMap): JsonObject {
  const message = part(txn, "spmsg");
  const proof = part(txn, "sp");
  const reveals = [...part(proof, "r")].sort(([a], [b]) => Number(a) - Number(b));
  return {
    message: {
      "block-headers-commitment": base64(message, "b"),
      "first-attested-round": getInteger(message, "f"),
      "latest-attested-round": getInteger(message, "l"),
      "ln-proven-weight": getInteger(message, "P"),
      "voters-commitment": base64(message, "v"),
    },
    "state-proof": {
      "part-proofs": merkleProofJson(part(proof, "P")),
      "positions-to-reveal": listOf(proof.get("pr")) as Json[],
      reveals: reveals.map(([position, reveal]) => revealJson(Number(position), asMap(reveal))),
      "salt-version": getInteger(proof, "v"),
      "sig-commit": base64(proof, "c"),
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
      verifier: { commitment: base64(verifier, "cmt"), "key-lifetime": getInteger(verifier, "lf") },
      weight: getInteger(participant, "w"),
    },
    position,
    "sig-slot": {
      "lower-sig-weight": getInteger(slot, "l"),
      signature: {
        "falcon-signature": base64(signature, "sig"),
        "merkle-array-index": getInteger(signature, "idx"),
        proof: merkleProofJson(part(signature, "prf")),
        "verifying-key": base64(part(signature, "vkey"), "k"),
      },
    },
  };
}

function merkleProofJson(proof: MsgpackMap): JsonObject {
  return {
    "hash-factory": { "hash-type": getInteger(part(proof, "hsh"), "t") },
    path: listOf(proof.get("pth")).map(bytesJson),
    "tree-depth": getInteger(proof, "td"),
  };
}

import { fromBase64 } from "@attestd/proof/encoding";
import { z } from "zod";
import { vectors } from "../../proof/test/vectors.ts";
import { parseLosslessJson } from "../src/providers/json.ts";

/* Recordings of real nodes: go-algorand v5.0.0, indexer 3.9.0. */

/** The round from which the recorded network had consensus v42. */
const FIRST_OF_V42 = 941;

const base64 = z.string().transform(fromBase64);
const Proof = z.object({ idx: z.number(), proof: base64, stibhash: base64, treedepth: z.number() });
const Recorded = z.object({
  consensus: z.string(),
  label: z.string(),
  txid: z.string(),
  round: z.number(),
  /** Base32, by the node. */
  blockHash: z.string(),
  unsignedMsgpackBase64: base64,
  /** By the node. */
  proof: z.object({ sha512_256: Proof, sha256: Proof }),
  /** The indexer's record, alone in its list. */
  indexer: z.tuple([z.record(z.string(), z.unknown())]),
});

/** algod's answer to a request for a proof; `message` where the status is an error. */
const ProofAnswer = z.object({
  status: z.number(),
  body: z.object({ idx: z.number().optional(), proof: z.string().optional(), message: z.string().optional() }),
});
const Old = z.object({
  consensus: z.string(),
  label: z.string(),
  txid: z.string(),
  round: z.number(),
  blockHash: z.string(),
  proof: z.object({ sha512_256: ProofAnswer, sha256: ProofAnswer }),
});

const Answer = z.object({ request: z.string(), status: z.number(), body: z.string() });

/** A transaction of each kind, under v41 and v42. */
export function recordedTransactions(): z.infer<typeof Recorded>[] {
  return read("algod-transactions.json", z.array(Recorded));
}

/** Transactions under v24 (flat payset), v33 (Merkle tree by SHA-512/256 alone) and v42. */
export function oldTransactions(): z.infer<typeof Old>[] {
  return read("old-consensus/transactions.json", z.array(Old));
}

/** `{block, cert}` in msgpack of a round of `recordedTransactions`. */
export function recordedBlock(round: number): Uint8Array {
  return vectors.bytes(`go-algorand/blocks/${round < FIRST_OF_V42 ? "v41" : "v42"}-${round}.msgpack`);
}

/** `{block, cert}` in msgpack of a round of `oldTransactions`. */
export function oldBlock(round: number): Uint8Array {
  return vectors.bytes(`go-algorand/old-consensus/blocks/${round}.msgpack`);
}

/** What algod answered to requests, good and bad; `{GO-DUMP}` stands for the struct that Go prints. */
export function recordedAnswers(consensus: "v41" | "v42"): z.infer<typeof Answer>[] {
  return read(`answers-${consensus}.json`, z.array(Answer));
}

function read<S extends z.ZodArray>(name: string, schema: S): z.infer<S> {
  return schema.parse(parseLosslessJson(vectors.text(`go-algorand/${name}`)));
}

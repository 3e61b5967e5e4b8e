import { hash } from "node:crypto";
import { ProofError } from "@attestd/proof";
import { blockHash, getBytes, getInteger, headerRound, paysetReader, splitRawBlock } from "@attestd/proof/algorand";
import { toBase64 } from "@attestd/proof/encoding";
import { innerIdsOf } from "../chains/algorand/inner.ts";

/** The contents of a round, from a node's block. */
export type RoundFacts = {
  /** The ids of its transactions and their inner transactions. */
  ids: string[];
  /** The time in the header, in ms. */
  at: number;
  /** Equal for nodes that show the same round. */
  key: string;
};

/**
 * Reads a round from a node's block.
 * @param answer `{block, cert}` in msgpack
 * @param genesisHash base64
 * @throws ProofError `malformed` when this is not a block of that round and network
 */
export function readBlock(answer: Uint8Array, round: number, genesisHash: string): RoundFacts {
  const { header, headerBytes, entries } = splitRawBlock(answer);
  const genesis = getBytes(header, "gh", 32);
  if (headerRound(header) !== round || genesis === undefined || toBase64(genesis) !== genesisHash)
    throw new ProofError("malformed", `not a block of round ${round} of the network ${genesisHash}`);
  const reader = paysetReader(header);
  const ids: string[] = [];
  for (const entry of entries) {
    const id = reader.txid(entry);
    ids.push(id, ...innerIdsOf(entry, id));
  }
  // The header's commitment to the transactions is not recomputed here: the ids are compared in addition to the header.
  return {
    ids,
    at: Number(getInteger(header, "ts")) * 1_000,
    key: `${blockHash(headerBytes)} ${hash("sha256", ids.join())}`,
  };
}

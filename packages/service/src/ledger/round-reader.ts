import { hash } from "node:crypto";
import { ProofError } from "@attestd/proof";
import {
  blockHash,
  encodeMsgpack,
  getBytes,
  getInteger,
  headerRound,
  restoreTransaction,
  splitBlock,
  txid,
} from "@attestd/proof/algorand";
import { toBase64 } from "@attestd/proof/encoding";
import { innerIds } from "../chains/algorand/inner.ts";
import type { Algod } from "../providers/algod.ts";
import { unavailable } from "../providers/provider.ts";

/** One round by one node. */
export type RoundRead = {
  /** Of its transactions and their inner ones. */
  ids: string[];
  /** The time in the header, in ms. */
  at: number;
  /** The same for nodes that show the same round. */
  key: string;
  /** `{block, cert}` in msgpack. */
  answer: Uint8Array;
};

/** Waits until the node has the round. @returns the node's latest. @throws ProviderError when none came within its minute */
export async function hasRound(algod: Algod, round: number, signal: AbortSignal): Promise<number> {
  const latest = await algod.waitForBlockAfter(round - 1, signal);
  if (latest < round) throw unavailable(`${algod.name} has had no round since ${latest}`);
  return latest;
}

/** Reads a round whole. @throws ProviderError also when it is not of the network of that genesis (base64) */
export async function readRound(
  algod: Algod,
  round: number,
  genesisHash: string,
  signal: AbortSignal,
): Promise<RoundRead> {
  // Without a block at first, another node was faster.
  const later = () => hasRound(algod, round, signal).then(() => algod.block(round, signal));
  const answer = (await algod.block(round, signal)) ?? (await later());
  if (answer === undefined) throw unavailable(`${algod.name} does not keep round ${round}`);
  return algod.decode(() => readBlock(answer, round, genesisHash));
}

/** @throws ProofError `malformed` when this is not a block of that round and network */
function readBlock(answer: Uint8Array, round: number, genesisHash: string): RoundRead {
  const { header, headerBytes, transactions } = splitBlock(answer);
  const genesis = getBytes(header, "gh", 32);
  if (headerRound(header) !== round || genesis === undefined || toBase64(genesis) !== genesisHash)
    throw new ProofError("malformed", `not a block of round ${round} of the network ${genesisHash}`);
  const ids = transactions.flatMap((entry) => {
    const id = txid(encodeMsgpack(restoreTransaction(entry, header)));
    return [id, ...innerIds(entry, id)];
  });
  // The header commits to the transactions, which is not recomputed here: the ids are compared beside it.
  return {
    ids,
    at: Number(getInteger(header, "ts")) * 1_000,
    key: `${blockHash(headerBytes)} ${hash("sha256", ids.join())}`,
    answer,
  };
}

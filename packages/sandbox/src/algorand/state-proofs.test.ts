import { join } from "node:path";
import { getBytes, getInteger, getMap, type MsgpackMap, splitBlock } from "@attestd/proof/algorand";
import { fromBase64, toBase64 } from "@attestd/proof/encoding";
import { type Checkpoint, checkpointAfter, checkStateProof, commitsToHeader } from "@attestd/proof/state-proof";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { temporaryFolder } from "../../../../test/helpers/temporary-folder.ts";
import { readNodeStateProof } from "../../../proof/test/node-state-proof.ts";
import { startTestNetwork, type TestNetwork } from "../../test/algorand-network.ts";
import { openArchive } from "../archive.ts";

/*
 * The verifier of `proof` is the judge here; its own tests check it against state proofs of MainNet and of a private
 * network of go-algorand. algosdk reads the transactions.
 */

const INTERVAL = 16;
const WAIT = { timeout: 60_000, interval: 20 };

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let archive: ReturnType<typeof openArchive>;
let network: TestNetwork;
beforeAll(async () => {
  folder = await temporaryFolder();
  await start();
  // The first voters are those of round 16. The round after an interval has its proof.
  await advanceTo(3 * INTERVAL + 2);
});
afterAll(async () => {
  await stop();
  await folder[Symbol.asyncDispose]();
});

async function start(): Promise<void> {
  archive = openArchive(join(folder.path, "networks.db"));
  network = await startTestNetwork({ stateProofs: { interval: INTERVAL }, archive: archive.of("algorand") });
}

async function stop(): Promise<void> {
  await network.close();
  archive.close();
}

/** Makes rounds, and waits for the proof of each interval. */
async function advanceTo(round: number): Promise<void> {
  while (network.ledger.round < round) {
    network.ledger.advance();
    if (network.ledger.round % INTERVAL === 0 && network.ledger.round > INTERVAL)
      await vi.waitFor(() => expect(network.ledger.pool()).toHaveLength(1), WAIT);
  }
}

const get = async (path: string) => {
  const response = await fetch(network.algodUrl + path);
  // biome-ignore lint/suspicious/noExplicitAny: the answers are compared below.
  return [response.status, (await response.json()) as any] as const;
};
const proofOf = async (round: number) => readNodeStateProof((await get(`/v2/stateproofs/${round}`))[1]);

function headerOf(round: number) {
  return splitBlock(network.ledger.blocks.block(round)?.bytes as Uint8Array);
}

function trackingOf(round: number): MsgpackMap {
  return getMap(getMap(headerOf(round).header, "spt") as MsgpackMap, 0) as MsgpackMap;
}

/**
 * Returns what a round's header says about the next voters, by go-algorand's formula (`crypto/stateproof/weights.go`).
 */
function anchorAt(round: number): Checkpoint {
  const tracking = trackingOf(round);
  const proven = (getInteger(tracking, "t") * 1_288_490_188n) >> 32n;
  return {
    genesisHash: network.genesisHash,
    round,
    votersCommitment: toBase64(getBytes(tracking, "v") as Uint8Array),
    lnProvenWeight: Math.ceil(65_536 * Math.log(Number(proven))),
  };
}

test("attest one interval after the other, from the voters that a header names", async () => {
  const [first, second] = [await proofOf(17), await proofOf(3 * INTERVAL)];
  expect([first.message, second.message]).toMatchObject([
    { firstAttestedRound: 17, lastAttestedRound: 32 },
    { firstAttestedRound: 33, lastAttestedRound: 48 },
  ]);
  expect(checkStateProof(first.stateProof, first.message, anchorAt(16))).toBeUndefined();
  const after = checkpointAfter(fromBase64(network.genesisHash), first.message);
  expect(after).toEqual(anchorAt(32));
  expect(checkStateProof(second.stateProof, second.message, after)).toBeUndefined();
  expect(checkStateProof(second.stateProof, second.message, { ...after, lnProvenWeight: 1 })).toBeDefined();
  // Headers name voters every interval, and the round up to which the next proof reaches.
  expect([16, 17, 32, 33, 34, 50].map((round) => getInteger(trackingOf(round), "n"))).toEqual(
    [32, 32, 32, 48, 48, 64].map(BigInt),
  );
  expect([15, 16, 17].map((round) => trackingOf(round).has("v"))).toEqual([false, true, false]);
});

test("commit to the light header of each of their rounds", async () => {
  for (const round of [17, 24, 32]) {
    const [, { index, proof, treedepth }] = await get(`/v2/blocks/${round}/lightheader/proof`);
    expect([index, treedepth]).toEqual([round - 17, 4]);
    const bytes = fromBase64(proof);
    const siblings = Array.from({ length: treedepth }, (_, place) => bytes.subarray(place * 32, place * 32 + 32));
    const { message } = await proofOf(round);
    expect(commitsToHeader(message, headerOf(round).headerBytes, siblings)).toBe(true);
    expect(commitsToHeader(message, headerOf(round + 1).headerBytes, siblings)).toBe(false);
  }
});

test("stand in a block as transactions that nobody signed, as algosdk and the indexer read them", async () => {
  const { message } = await proofOf(17);
  const { block } = await network.algod.block(33).do();
  const [{ signedTxn } = { signedTxn: undefined }] = block.payset;
  const { txn, sig } = signedTxn?.signedTxn ?? {};
  expect([txn?.type, sig, String(txn?.sender)]).toEqual([
    "stpf",
    undefined,
    "XM6FEYVJ2XDU2IBH4OT6VZGW75YM63CM4TC6AV6BD3JZXFJUIICYTVB5EU",
  ]);
  expect(txn?.stateProof?.message?.lastAttestedRound).toBe(32n);
  expect(txn?.stateProof?.stateProof?.signedWeight).toBe(10_000_000_000_000n);
  const { transactions } = await network.indexer.searchForTransactions().txType("stpf").do();
  expect(transactions.map(({ id }) => id)).toContain(network.ledger.blocks.block(33)?.txids[0]);
  expect(transactions[0]?.stateProofTransaction?.message?.latestAttestedRound).toBe(BigInt(message.lastAttestedRound));
});

test("are refused as a real node does where there is none, or blocks are gone", async () => {
  for (const path of ["/v2/stateproofs/%", "/v2/blocks/%/lightheader/proof"]) {
    const at = async (round: number) => {
      const [status, { message }] = await get(path.replace("%", String(round)));
      return `${status} ${message}`;
    };
    expect(await at(16)).toBe("404 no state proof can be found for that round");
    expect(await at(network.ledger.round)).toBe("404 no state proof can be found for that round");
    expect(await at(network.ledger.round + 1)).toBe("500 given round is greater than the latest round");
    network.behaviour.keptRounds = 10;
    expect(await at(20)).toBe("500 failed to retrieve information from the ledger");
    network.behaviour.keptRounds = 0;
  }
});

test("go on after a stop, by the same participants", async () => {
  const before = await proofOf(48);
  await stop();
  await start();
  await advanceTo(4 * INTERVAL + 2);
  expect(await proofOf(48)).toEqual(before);
  const { message, stateProof } = await proofOf(64);
  const after = checkpointAfter(fromBase64(network.genesisHash), before.message);
  expect(checkStateProof(stateProof, message, after)).toBeUndefined();
});

import { hash, randomBytes } from "node:crypto";
import { encodeMsgpack, structMap, txid } from "@attestd/proof/algorand";
import { findInRound } from "../packages/service/src/chains/algorand/block-work.ts";
import { readRound } from "../packages/service/src/ledger/round-reader.ts";
import { useNativeSha2 } from "../packages/service/src/lib/crypto/sha2.ts";
import type { Algod } from "../packages/service/src/providers/algod.ts";
import { cpuTimed, type Effort, inTurns, judge, type Row } from "./measure.ts";

/** Transactions of a full block, each with a note as long as ours. */
const TRANSACTIONS = 5_000;
const NOTE_BYTES = 250;
const GENESIS = randomBytes(32);
const ROUND = 1_000;
const TX = Buffer.from("TX");

/**
 * CPU time of taking a full block of Algorand apart, as the watcher reads every round and as a source is looked for in one, beside
 * the hashing alone of the same transactions.
 */
export async function run(effort: Effort): Promise<Row[]> {
  useNativeSha2();
  const transactions = Array.from({ length: TRANSACTIONS }, transaction);
  const block = structMap({ gh: GENESIS, rnd: BigInt(ROUND), ts: 1_800_000_000n, txns: transactions.map(inBlock) });
  const answer = encodeMsgpack(structMap({ block }));
  // Nothing else of a node is asked.
  const algod = {
    name: "bench",
    block: async () => answer,
    decode: (read: () => unknown) => read(),
  } as unknown as Algod;
  const bytes = transactions.map((one) => Buffer.concat([TX, encodeMsgpack(one)]));
  const last = txid(encodeMsgpack(transactions.at(-1) as ReturnType<typeof transaction>));
  const { signal } = new AbortController();
  const hashed = () => bytes.map((one) => hash("sha512-256", one, "buffer"));
  const beside = async (work: () => unknown) =>
    inTurns(
      effort,
      () => cpuTimed(work),
      () => cpuTimed(hashed),
    );
  const watched = await beside(() => readRound(algod, ROUND, GENESIS.toString("base64"), signal));
  const searched = await beside(() => findInRound(answer, ROUND, last));
  return [
    judge("read-round", "ms CPU", watched, "share", { atMost: 3.5 }),
    judge("read-block", "ms CPU", searched, "share", { atMost: 3.5 }),
  ];
}

function transaction() {
  const [snd, lx, note] = [GENESIS, randomBytes(32), randomBytes(NOTE_BYTES)];
  return structMap({ type: "pay", snd, rcv: snd, fee: 1_000n, fv: 1_000n, lv: 1_100n, gh: GENESIS, lx, note });
}

/** As a block has it: without the genesis hash, with its signature. */
function inBlock(whole: ReturnType<typeof transaction>) {
  const txn = new Map(whole);
  txn.delete("gh");
  return structMap({ sig: randomBytes(64), txn });
}

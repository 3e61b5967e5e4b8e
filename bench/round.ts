import { hash, randomBytes } from "node:crypto";
import { encodeMsgpack, structMap } from "@attestd/proof/algorand";
import { readRound } from "../packages/service/src/ledger/round-reader.ts";
import type { Algod } from "../packages/service/src/providers/algod.ts";
import { type Effort, inTurns, judge, type Row } from "./measure.ts";

/** The notes of 1,000 calls a second in a round of MainNet, which takes 2.8 s. */
const NOTES = 2_800;
const NOTE_BYTES = 250;
const GENESIS = randomBytes(32);

/** CPU time of reading a round that is full of notes, as the service reads every round, beside hashing them alone. */
export async function run(effort: Effort): Promise<Row[]> {
  const transactions = Array.from({ length: NOTES }, transaction);
  const block = structMap({ gh: GENESIS, rnd: 1_000n, ts: 1_800_000_000n, txns: transactions.map(inBlock) });
  const answer = encodeMsgpack(structMap({ block }));
  // Nothing else of a node is asked.
  const algod = {
    name: "bench",
    block: async () => answer,
    decode: (read: () => unknown) => read(),
  } as unknown as Algod;
  const bytes = transactions.map((one) => encodeMsgpack(one));
  const ours = () => readRound(algod, 1_000, GENESIS.toString("base64"), new AbortController().signal);
  const theirs = async () => bytes.map((one) => hash("sha512-256", one));
  const turns = await inTurns(
    effort,
    () => cpuOf(ours),
    () => cpuOf(theirs),
  );
  return [judge("round-notes", "ms CPU", turns, "share", { ours: 60 })];
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

/** CPU time of this process for some work, in ms. */
async function cpuOf(work: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

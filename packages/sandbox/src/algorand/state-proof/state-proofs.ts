import { Worker } from "node:worker_threads";
import {
  decodeAddress,
  decodeMsgpackMap,
  encodeMsgpack,
  getInteger,
  getMap,
  headerDigest,
  lightHeaderLeaf,
  type MsgpackMap,
  splitBlock,
  structMap,
  treeRoot,
} from "@attestd/proof/algorand";
import { toBase64 } from "@attestd/proof/encoding";
import {
  type Checkpoint,
  checkpointInHeader,
  type StateProofMessage,
  stateProofMessageMap,
  stateProofMessageOf,
  stateProofTracking,
} from "@attestd/proof/state-proof";
import type { BlockStore, StoredBlock } from "../block.ts";
import { MAX_TXN_LIFE } from "../consensus.ts";
import { part } from "../members.ts";
import { participantsAt, votersOf } from "./participants.ts";
import type { ProofAnswer, ProofRequest } from "./worker.ts";

/** `StateProofSender`, which has no key (go-algorand, `data/transactions/stateproof.go`). */
const SENDER = decodeAddress("XM6FEYVJ2XDU2IBH4OT6VZGW75YM63CM4TC6AV6BD3JZXFJUIICYTVB5EU");

/** A state proof on the chain, and the round of its transaction. */
export interface ProvenRounds {
  message: StateProofMessage;
  /** Canonical msgpack. */
  stateProof: Uint8Array;
  round: number;
}

/** The schedule of a network's state proofs. */
export interface StateProofPace {
  /** Rounds per state proof: a power of two from 8 to 256. */
  interval: number;
  /** No header before this round names voters, so no state proof attests its round; default: 1. */
  from?: number;
}

export interface StateProofsOptions extends StateProofPace {
  /** 32 bytes. */
  genesisHash: Uint8Array;
  blocks: BlockStore;
  /** Puts an unsigned transaction into the next block. */
  submit(txn: MsgpackMap): void;
}

/**
 * The state proofs of a ledger (go-algorand, `stateproof` and `ledger/eval`): what headers say about them (`spt`), and
 * a worker that makes them. All stake signs at once, so a proof is in a block soon after its rounds.
 */
export class StateProofs {
  readonly #options: StateProofsOptions;
  /** Ascending. */
  readonly #proven: ProvenRounds[] = [];
  #worker: Worker | undefined;
  /** The last round that the worker was asked to prove. */
  #asked = 0;

  constructor(options: StateProofsOptions) {
    this.#options = options;
  }

  /**
   * Returns `spt` of a header: the round up to which the next proof reaches, and every `interval` rounds the
   * participants who sign for the rounds after it.
   * @param before the previous header
   * @param payset of the block
   */
  tracking(round: number, before: MsgpackMap | undefined, payset: readonly MsgpackMap[]): MsgpackMap {
    const { interval, from = 1 } = this.#options;
    const voters = round >= from && round % interval === 0 ? votersOf(participantsAt(round + interval)) : undefined;
    const next = this.#nextAt(round, before, payset.find(isStateProof));
    return new Map([[0, structMap({ n: next, t: voters?.weight, v: voters?.commitment })]]);
  }

  #nextAt(round: number, before: MsgpackMap | undefined, included: MsgpackMap | undefined): number {
    const { interval } = this.#options;
    if (included) return messageOf(included).lastAttestedRound + interval;
    const next = before === undefined ? 0 : nextOf(before);
    if (next > 0 && next % interval === 0 && (next >= round || this.#isProvable(next))) return next;
    // The chain begins, has changed its interval, or lost what the proof of these rounds needs.
    const end = Math.ceil(round / interval) * interval;
    return this.#checkpoint(end - interval) ? end : end + interval;
  }

  /** Notes a block of the ledger, new or earlier. */
  add(block: StoredBlock): void {
    const { transactions } = splitBlock(block.bytes);
    for (const entry of transactions.filter(isStateProof)) {
      const { round } = block;
      this.#proven.push({ message: messageOf(entry), stateProof: proofOf(entry), round });
    }
  }

  /** Starts proving the rounds up to the latest block, if everything that a proof needs is there. */
  advance(block: StoredBlock): void {
    const { interval } = this.#options;
    const last = nextOf(splitBlock(block.bytes).header);
    if (block.round < last || this.#asked === last || !this.#isProvable(last)) return;
    const [checkpoint, after] = [this.#checkpoint(last - interval), this.#checkpoint(last)];
    if (checkpoint === undefined || after === undefined) return;
    this.#asked = last;
    const first = last - interval + 1;
    const message: StateProofMessage = {
      blockHeadersCommitment: toBase64(treeRoot("txn256", this.lightHeaders(first, last) ?? [])),
      votersCommitment: after.votersCommitment,
      lnProvenWeight: after.lnProvenWeight,
      firstAttestedRound: first,
      lastAttestedRound: last,
    };
    this.#worker ??= this.#startWorker();
    this.#worker.postMessage({ message, checkpoint } satisfies ProofRequest);
  }

  /** Returns the proof that attests a round; undefined when there is none yet. */
  of(round: number): ProvenRounds | undefined {
    return this.#proven.find(
      ({ message }) => message.firstAttestedRound <= round && round <= message.lastAttestedRound,
    );
  }

  /**
   * Returns the leaves of the light headers of these rounds; undefined when one is not kept. @param block reads a
   * node's block
   */
  lightHeaders(
    first: number,
    last: number,
    block = (round: number) => this.#options.blocks.block(round),
  ): Uint8Array[] | undefined {
    const blocks = Array.from({ length: last - first + 1 }, (_, index) => block(first + index));
    if (blocks.some((one) => one === undefined)) return undefined;
    return blocks.map((one) => {
      const { header, headerBytes } = splitBlock((one as StoredBlock).bytes);
      return lightHeaderLeaf(header, headerDigest(headerBytes));
    });
  }

  async close(): Promise<void> {
    await this.#worker?.terminate();
  }

  #startWorker(): Worker {
    const worker = new Worker(new URL("./worker.ts", import.meta.url));
    worker.unref();
    // Its errors end the process, like any other defect of the sandbox.
    worker.on("message", (answer: ProofAnswer) => this.#submit(answer));
    return worker;
  }

  #submit({ message, stateProof }: ProofAnswer): void {
    const { genesisHash, submit } = this.#options;
    const firstValid = message.lastAttestedRound + 1;
    submit(
      structMap({
        type: "stpf",
        snd: SENDER,
        fv: firstValid,
        lv: firstValid + MAX_TXN_LIFE,
        gh: genesisHash,
        sp: decodeMsgpackMap(stateProof),
        spmsg: stateProofMessageMap(message),
      }),
    );
  }

  /** Whether everything that a proof of the rounds up to this one needs is there. */
  #isProvable(last: number): boolean {
    const { interval } = this.#options;
    const ends = [this.#checkpoint(last - interval), this.#checkpoint(last)];
    return ends.every(Boolean) && this.lightHeaders(last - interval + 1, last) !== undefined;
  }

  /** Returns what a header says about the next voters; undefined when it says nothing, or is not kept. */
  #checkpoint(round: number): Checkpoint | undefined {
    const block = this.#options.blocks.block(round);
    return block && checkpointInHeader(splitBlock(block.bytes).header);
  }
}

function nextOf(header: MsgpackMap): number {
  return Number(getInteger(stateProofTracking(header), "n"));
}

/** Whether an entry of a payset is a state proof. */
export function isStateProof(entry: MsgpackMap): boolean {
  return getMap(entry, "txn")?.get("type") === "stpf";
}

function messageOf(entry: MsgpackMap): StateProofMessage {
  return stateProofMessageOf(part(part(entry, "txn"), "spmsg"));
}

function proofOf(entry: MsgpackMap): Uint8Array {
  return encodeMsgpack(part(part(entry, "txn"), "sp"));
}

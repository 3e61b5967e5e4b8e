import { createHash } from "node:crypto";
import { EventEmitter, once } from "node:events";
import { getString, type MsgpackMap, splitBlock } from "@attestd/proof/algorand";
import { type ApplyData, applyTransaction } from "./apply.ts";
import { BlockStore, blockTransactions, inBlockMap, makeBlock, makeGenesisBlock, type StoredBlock } from "./block.ts";
import { type Consensus, MAX_TIMESTAMP_INCREMENT } from "./consensus.ts";
import { applyGroup } from "./evaluate.ts";
import type { Genesis } from "./genesis.ts";
import { prefixRejection, Rejection } from "./rejection.ts";
import { LedgerState } from "./state.ts";
import { type StateProofPace, StateProofs } from "./state-proof/state-proofs.ts";
import { type SignedTransaction, signedTransaction } from "./transaction.ts";
import { verifyGroup } from "./verify.ts";

export interface LedgerOptions {
  genesis: Genesis;
  /** The number of transactions before the first one; it determines ids of created assets. */
  counter: number;
  /** Recorded blocks, ascending; the ledger's own rounds follow the last of them. */
  recorded: StoredBlock[];
  /** This ledger's earlier blocks, ascending: all with transactions, and the last one. New rounds follow it, too. */
  kept?: StoredBlock[];
  /** Called with every block that this ledger makes. */
  onBlock?: (block: StoredBlock) => void;
  /** Milliseconds since 1970. */
  now: () => number;
  /** The rules of the next block. */
  consensus: () => Consensus;
  /** Absent from a ledger that makes no state proofs. */
  stateProofs?: StateProofPace | undefined;
}

interface Pooled {
  signed: SignedTransaction;
  applied: ApplyData;
}

/** The result of simulating a group. */
export interface Simulation {
  /** The effects of each member; shorter than the group when it failed. */
  applied: ApplyData[];
  failure?: Rejection;
}

/**
 * An Algorand ledger of one node: a pool, rounds, and blocks that are final at once. It has no timer: its owner calls
 * `advance`. Everything is synchronous, so a submission is visible when `submit` returns.
 */
export class Ledger {
  readonly genesis: Genesis;
  readonly blocks = new BlockStore();
  readonly stateProofs: StateProofs | undefined;
  readonly #options: LedgerOptions;
  /** State after the latest round, for reading. */
  readonly state: LedgerState;
  /** State after the pool; a child of `state`. */
  #pending: LedgerState;
  #pool = new Map<string, Pooled>();
  #latest: StoredBlock;
  #latestAt: number;
  /** Emits `round` after every new round. Each waiting client has one listener. */
  readonly #rounds = new EventEmitter().setMaxListeners(0);

  /** @throws Error when a recorded block and a kept one have the same round */
  constructor(options: LedgerOptions) {
    const { genesis, counter, recorded, kept = [], stateProofs } = options;
    this.#options = options;
    this.genesis = genesis;
    this.state = new LedgerState(undefined, counter);
    this.stateProofs =
      stateProofs &&
      new StateProofs({
        ...stateProofs,
        genesisHash: genesis.hash,
        blocks: this.blocks,
        submit: (txn) =>
          this.#pool.set(`stpf ${this.round}`, { signed: signedTransaction(new Map([["txn", txn]])), applied: {} }),
      });
    for (const { addr, state } of genesis.document.alloc)
      this.state.putAccount(addr, { balance: BigInt(state.algo), authAddress: undefined, holdings: new Map() });
    for (const block of kept) this.#apply(block);
    this.#pending = this.state.child();
    const before = [...recorded, ...kept].sort((a, b) => a.round - b.round);
    for (const block of before) {
      if (this.blocks.block(block.round) !== undefined)
        throw new Error(`round ${block.round} is one of the sandbox's own, and recorded too`);
      this.blocks.add(block);
    }
    this.#latest = this.#first(before.at(-1), kept.at(-1));
    this.#latestAt = options.now();
    this.blocks.add(this.#latest);
    options.onBlock?.(this.#latest);
  }

  /**
   * Makes the first block since the start. Its time is that of the start, however long the ledger stood still: catching
   * up in rounds of at most 25 seconds would take too long.
   */
  #first(before: StoredBlock | undefined, own: StoredBlock | undefined): StoredBlock {
    const { genesis } = this;
    const round = (before?.round ?? -1) + 1;
    const previous = own && splitBlock(own.bytes);
    const fields = {
      round,
      timestamp: previous
        ? Math.max(Number(previous.header.get("ts")), Math.floor(this.#options.now() / 1000))
        : genesis.document.timestamp,
      seed: previous ? nextSeed(previous.header) : genesis.hash,
      counter: this.state.counter,
      // A recorded block belongs to another chain.
      ...(before === own && previous && { previousHeader: previous.headerBytes }),
      consensus: this.consensus,
      stateProofs: this.stateProofs?.tracking(round, previous?.header, []),
    };
    return round === 0 ? makeGenesisBlock(genesis, fields) : makeBlock(genesis, fields, []);
  }

  /** Applies a kept block, which was valid when it was made. */
  #apply(block: StoredBlock): void {
    if (block.txids.length === 0) return;
    this.stateProofs?.add(block);
    for (const { txn: map } of blockTransactions(splitBlock(block.bytes))) {
      const { txn } = signedTransaction(new Map([["txn", map]]));
      if (txn.type !== "stpf") applyTransaction(this.state, txn, this.genesis.special.feeSink);
      this.state.addTransaction(txn);
    }
  }

  get round(): number {
    return this.#latest.round;
  }

  /** Milliseconds since the latest round. */
  sinceLatest(): number {
    return this.#options.now() - this.#latestAt;
  }

  /** The rules of the next block. */
  get consensus(): Consensus {
    return this.#options.consensus();
  }

  /** `proto` of the latest block. */
  get version(): string {
    return getString(splitBlock(this.#latest.bytes).header, "proto") ?? "";
  }

  /**
   * Adds a group to the end of the pool.
   * @param admit a pool's own checks, after those of form and signatures and before those of balances
   * @throws Rejection without any change
   */
  submit(group: SignedTransaction[], admit?: () => void): void {
    verifyGroup(group, this.genesis.special, this.consensus);
    admit?.();
    const applied = prefixRejection("TransactionPool.Remember: ", undefined, () =>
      applyGroup(this.#pending, group, this.round + 1, this.genesis, this.consensus),
    );
    for (const [index, signed] of group.entries())
      this.#pool.set(signed.txn.id, { signed, applied: applied[index] ?? {} });
  }

  /**
   * Simulates a group on the state after the latest round, without the pool, like a real node.
   * @param round in which it is simulated
   * @throws Rejection when the group is malformed or a signature is wrong: algod answers 400 without a result
   */
  simulate(group: SignedTransaction[], allowEmptySignatures: boolean, round: number): Simulation {
    let isVerified = false;
    try {
      verifyGroup(group, this.genesis.special, this.consensus, allowEmptySignatures);
      isVerified = true;
      return { applied: applyGroup(this.state.child(), group, round, this.genesis, this.consensus) };
    } catch (error) {
      if (!(error instanceof Rejection) || (!isVerified && error.groupIndex === undefined)) throw error;
      return { applied: [], failure: error };
    }
  }

  pooled(txid: string): SignedTransaction | undefined {
    return this.#pool.get(txid)?.signed;
  }

  /** All transactions in the pool, in order of arrival. */
  pool(): SignedTransaction[] {
    return [...this.#pool.values()].map(({ signed }) => signed);
  }

  /** Makes the next block of everything in the pool. */
  advance(): StoredBlock {
    this.#pending.commit();
    const { header, headerBytes } = splitBlock(this.#latest.bytes);
    const payset = [...this.#pool.values()].map(({ signed, applied }) =>
      inBlockMap(signed.map, signed.txn.map, applied),
    );
    const fields = {
      round: this.round + 1,
      timestamp: this.#nextTimestamp(header),
      seed: nextSeed(header),
      counter: this.state.counter,
      previousHeader: headerBytes,
      consensus: this.consensus,
      stateProofs: this.stateProofs?.tracking(this.round + 1, header, payset),
    };
    this.#latest = makeBlock(this.genesis, fields, payset);
    this.blocks.add(this.#latest);
    this.#options.onBlock?.(this.#latest);
    this.#latestAt = this.#options.now();
    this.#pool = new Map();
    this.#pending = this.state.child();
    this.stateProofs?.add(this.#latest);
    this.stateProofs?.advance(this.#latest);
    this.#rounds.emit("round");
    return this.#latest;
  }

  /** Resolves when the round exists, or the signal aborts. */
  async reached(round: number, signal: AbortSignal): Promise<void> {
    while (this.round < round && !signal.aborted) await once(this.#rounds, "round", { signal }).catch(() => {});
  }

  #nextTimestamp(previous: MsgpackMap): number {
    const before = Number(previous.get("ts"));
    const seconds = Math.floor(this.#options.now() / 1000);
    return Math.min(Math.max(seconds, before), before + MAX_TIMESTAMP_INCREMENT);
  }
}

function nextSeed(header: MsgpackMap): Uint8Array {
  return createHash("sha256")
    .update(header.get("seed") as Uint8Array)
    .digest();
}

import { randomBytes } from "node:crypto";
import { deserialize, serialize } from "node:v8";
import { type Address, type Blockhash, getBase58Decoder } from "@solana/kit";
import { type NetworkArchive, NO_ARCHIVE } from "../archive.ts";
import type { Execution, Machine } from "./machine.ts";
import { decimalsOf, decodeTokenAccount, type TokenHolding } from "./token.ts";
import { type DecodedTransaction, decodeTransaction, hasValidSignatures } from "./transaction.ts";

/** The commitment of a slot: `confirmed` is one slot behind the newest, `finalized` thirty-two, as on MainNet. */
export type Commitment = "processed" | "confirmed" | "finalized";
const LAG: Record<Commitment, bigint> = { processed: 0n, confirmed: 1n, finalized: 32n };

/** Blocks for which a blockhash is valid, without its own (MAX_PROCESSING_AGE). */
const MAX_AGE = 150n;

/** First slot, and the number of slots without a block before it, so that height and slot differ. */
const FIRST_SLOT = 400_000_000n;
const SKIPPED_SLOTS = 21_000_000n;

export interface Block {
  slot: bigint;
  height: bigint;
  blockhash: Blockhash;
  /** Seconds of Unix time. */
  time: bigint;
}

/** A transaction in a block: executed and paid for, whether or not it failed. */
export interface LandedTransaction {
  decoded: DecodedTransaction;
  block: Block;
  execution: Execution;
  /** Lamports of each of the transaction's accounts, in their order. */
  balances: { before: bigint[]; after: bigint[] };
  tokenBalances: { before: TokenBalance[]; after: TokenBalance[] };
}

export interface TokenBalance extends TokenHolding {
  accountIndex: number;
  decimals: number;
}

/** Slots, blockhashes and transactions over a {@link Machine}, with enough blocks for every commitment. */
export class Ledger {
  readonly #machine: Machine;
  readonly #archive: NetworkArchive;
  /** The blocks whose hashes are still needed, oldest first; the last is the current one. Never empty. */
  readonly #recent: Block[] = [];
  readonly #landed = new Map<string, LandedTransaction>();
  readonly #byAccount = new Map<Address, LandedTransaction[]>();
  /** Hashes of the messages that have landed. */
  readonly #processed = new Set<string>();

  /**
   * @param time Unix time in seconds of the first blocks
   * @param archive has the earlier transactions, and receives new ones
   */
  constructor(machine: Machine, time: bigint, archive = NO_ARCHIVE) {
    this.#machine = machine;
    this.#archive = archive;
    for (const record of archive.records()) {
      const { wire, ...landed } = deserialize(record);
      this.#keep({ decoded: decodeTransaction(wire), ...landed });
    }
    while (this.#recent.length <= Number(LAG.finalized)) this.nextSlot(time);
  }

  /** The newest block at a commitment. */
  block(commitment: Commitment): Block {
    return this.#recent.at(-1 - Number(LAG[commitment])) as Block;
  }

  /** The blocks whose hashes are valid, oldest first. */
  recentBlocks(): readonly Block[] {
    return this.#recent.slice(-Number(MAX_AGE));
  }

  /** Starts the next slot, with a new blockhash. @param time Unix time in seconds */
  nextSlot(time: bigint): void {
    const slot = (this.#recent.at(-1)?.slot ?? BigInt(this.#archive.height() ?? FIRST_SLOT - 1n)) + 1n;
    const blockhash = getBase58Decoder().decode(randomBytes(32)) as Blockhash;
    this.#recent.push({ slot, height: slot - SKIPPED_SLOTS, blockhash, time });
    if (this.#recent.length > Number(MAX_AGE + LAG.finalized) + 1) this.#recent.shift();
    this.#machine.setClock(slot, time);
    this.#archive.note(Number(slot));
  }

  /** The last height at which this block's hash is valid. */
  lastValidHeight({ height }: Block): bigint {
    return height + MAX_AGE;
  }

  isValid(blockhash: string, commitment: Commitment): boolean {
    const { height } = this.block(commitment);
    const named = this.#recent.find((block) => block.blockhash === blockhash);
    return named !== undefined && named.height <= height && height <= this.lastValidHeight(named);
  }

  /** Runs a transaction without keeping its effects. */
  simulate(decoded: DecodedTransaction, { anyBlockhash = false } = {}): Execution {
    const err = this.#refusal(decoded, anyBlockhash);
    if (err === null) return this.#machine.simulate(decoded.transaction);
    return { err, logs: [], unitsConsumed: 0n, fee: 0n, innerInstructions: [] };
  }

  /**
   * Adds a transaction to the current block. A transaction that a leader would drop (invalid signature, unknown or
   * expired blockhash, already processed, fee not paid) has no effect, as on a real cluster.
   */
  send(decoded: DecodedTransaction): void {
    if (this.#refusal(decoded, false) !== null || !hasValidSignatures(decoded)) return;
    const { staticAccounts } = decoded.message;
    const before = balancesOf(this.#machine, staticAccounts);
    const { landed, ...execution } = this.#machine.execute(decoded.transaction);
    if (!landed) return;
    const after = balancesOf(this.#machine, staticAccounts);
    const transaction: LandedTransaction = {
      decoded,
      block: this.block("processed"),
      execution,
      balances: { before: before.lamports, after: after.lamports },
      tokenBalances: { before: before.tokens, after: after.tokens },
    };
    this.#keep(transaction);
    const { decoded: _, ...effects } = transaction;
    this.#archive.add(Number(transaction.block.slot), serialize({ wire: decoded.wire, ...effects }));
  }

  #keep(transaction: LandedTransaction): void {
    const { decoded } = transaction;
    this.#processed.add(decoded.messageHash);
    this.#landed.set(decoded.signature, transaction);
    for (const account of decoded.message.staticAccounts) this.#byAccount.getOrInsert(account, []).push(transaction);
  }

  transaction(signature: string): LandedTransaction | undefined {
    return this.#landed.get(signature);
  }

  /** Transactions that name the account, newest first. */
  transactionsOf(account: Address): LandedTransaction[] {
    return (this.#byAccount.get(account) ?? []).toReversed();
  }

  commitmentOf({ slot }: Block): Commitment {
    if (slot <= this.block("finalized").slot) return "finalized";
    return slot <= this.block("confirmed").slot ? "confirmed" : "processed";
  }

  /** Returns the Unix time of a slot; undefined when it is not, or no longer, known. */
  timeOf(slot: bigint): bigint | undefined {
    const block = this.#recent.find((block) => block.slot === slot);
    return (block ?? this.#landed.values().find(({ block }) => block.slot === slot)?.block)?.time;
  }

  /**
   * Returns the error for which a leader drops the transaction, in a validator's order of checks; null if there is
   * none.
   */
  #refusal({ message, messageHash }: DecodedTransaction, anyBlockhash: boolean) {
    if (!anyBlockhash && !this.isValid(message.lifetimeToken, "processed")) return "BlockhashNotFound";
    return this.#processed.has(messageHash) ? "AlreadyProcessed" : null;
  }
}

/** Current lamports and token balances of a transaction's accounts. */
function balancesOf(machine: Machine, accounts: Address[]): { lamports: bigint[]; tokens: TokenBalance[] } {
  const states = accounts.map((address) => machine.account(address));
  const tokens = states.flatMap((state, accountIndex) => {
    const holding = state && decodeTokenAccount(state);
    if (!holding) return [];
    return [{ ...holding, accountIndex, decimals: decimalsOf(machine, holding.mint) }];
  });
  return { lamports: states.map((state) => state?.lamports ?? 0n), tokens };
}

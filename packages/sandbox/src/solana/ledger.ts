import { randomBytes } from "node:crypto";
import { type Address, getBase58Decoder } from "@solana/kit";
import type { Execution, Machine } from "./machine.ts";
import { decodeMint, decodeTokenAccount, type TokenHolding } from "./token.ts";
import { type DecodedTransaction, hasValidSignatures } from "./transaction.ts";

/** Commitment of a slot: `confirmed` one slot behind the newest, `finalized` thirty-two, as on MainNet. */
export type Commitment = "processed" | "confirmed" | "finalized";
const LAG: Record<Commitment, bigint> = { processed: 0n, confirmed: 1n, finalized: 32n };

/** Blocks for which a blockhash is valid, its own not counted (MAX_PROCESSING_AGE). */
const MAX_AGE = 150n;

/** First slot, and the number of slots without a block before it, so that height and slot differ. */
const FIRST_SLOT = 400_000_000n;
const SKIPPED_SLOTS = 21_000_000n;

/** One block of the ledger. */
export interface Block {
  slot: bigint;
  height: bigint;
  blockhash: string;
  /** Seconds of Unix time. */
  time: bigint;
}

/** A transaction in a block: executed and paid for, whether or not it failed. */
export interface LandedTransaction {
  decoded: DecodedTransaction;
  block: Block;
  execution: Execution;
  /** Lamports of each of the transaction's accounts, in their order. */
  balances: Change<bigint[]>;
  tokenBalances: Change<TokenBalance[]>;
}

export interface TokenBalance extends TokenHolding {
  accountIndex: number;
  decimals: number;
}

interface Change<T> {
  before: T;
  after: T;
}

/** Slots, blockhashes and transactions over a {@link Machine}. */
export interface Ledger {
  /** The newest block at a commitment. */
  block(commitment: Commitment): Block;
  /** The blocks whose hashes are valid, oldest first. */
  recentBlocks(): readonly Block[];
  /** Starts the next slot, with a new blockhash. @param time Unix time in seconds */
  nextSlot(time: bigint): void;
  /** The last height at which this block's hash is valid. */
  lastValidHeight(block: Block): bigint;
  isValid(blockhash: string, commitment: Commitment): boolean;
  /** Runs a transaction without keeping its effects. */
  simulate(decoded: DecodedTransaction, options?: { anyBlockhash?: boolean }): Execution;
  /**
   * Adds a transaction to the current block. A transaction that a leader drops (invalid signature, unknown or expired
   * blockhash, already processed, fee not paid) has no effect, as on a real cluster.
   */
  send(decoded: DecodedTransaction): void;
  transaction(signature: string): LandedTransaction | undefined;
  /** Transactions that name the account, newest first. */
  transactionsOf(account: Address): LandedTransaction[];
  commitmentOf(block: Block): Commitment;
  /** Unix time of a slot; undefined when it is not, or no longer, known. */
  timeOf(slot: bigint): bigint | undefined;
}

/**
 * Makes a ledger with enough blocks for every commitment. Its blockhashes are random, and every Solana transaction names
 * one, so none that is signed here is valid on another cluster.
 * @param time Unix time in seconds of its first blocks
 */
export function createLedger(machine: Machine, time: bigint): Ledger {
  /** The blocks whose hashes are still needed, oldest first; the last is the current one. Never empty. */
  const recent: Block[] = [];
  const landed = new Map<string, LandedTransaction>();
  const byAccount = new Map<Address, LandedTransaction[]>();
  /** Hashes of the messages that have landed. */
  const processed = new Set<string>();

  const block = (commitment: Commitment) => recent.at(-1 - Number(LAG[commitment])) as Block;
  const nextSlot = (time: bigint) => {
    const slot = recent.length === 0 ? FIRST_SLOT : block("processed").slot + 1n;
    recent.push({
      slot,
      height: slot - SKIPPED_SLOTS,
      blockhash: getBase58Decoder().decode(randomBytes(32)),
      time,
    });
    if (recent.length > Number(MAX_AGE + LAG.finalized) + 1) recent.shift();
    machine.setClock(slot, time);
  };
  while (recent.length <= Number(LAG.finalized)) nextSlot(time);

  const lastValidHeight = ({ height }: Block) => height + MAX_AGE;
  const isValid = (blockhash: string, commitment: Commitment) => {
    const at = block(commitment);
    const named = recent.find((block) => block.blockhash === blockhash);
    return named !== undefined && named.height <= at.height && at.height <= lastValidHeight(named);
  };
  /** Why a leader drops the transaction, in a validator's order of checks; null when it does not. */
  const refusal = ({ message, messageHash }: DecodedTransaction, anyBlockhash = false) => {
    if (!anyBlockhash && !isValid(message.lifetimeToken, "processed")) return "BlockhashNotFound";
    return processed.has(messageHash) ? "AlreadyProcessed" : null;
  };

  return {
    block,
    recentBlocks: () => recent.slice(-Number(MAX_AGE)),
    nextSlot,
    lastValidHeight,
    isValid,
    simulate(decoded, { anyBlockhash } = {}) {
      const err = refusal(decoded, anyBlockhash);
      if (err === null) return machine.simulate(decoded.transaction);
      return { err, logs: [], unitsConsumed: 0n, fee: 0n, innerInstructions: [] };
    },
    send(decoded) {
      if (refusal(decoded) !== null || !hasValidSignatures(decoded)) return;
      const before = balancesOf(machine, decoded);
      const { landed: hasLanded, ...execution } = machine.execute(decoded.transaction);
      if (!hasLanded) return;
      const after = balancesOf(machine, decoded);
      const transaction: LandedTransaction = {
        decoded,
        block: block("processed"),
        execution,
        balances: { before: before.lamports, after: after.lamports },
        tokenBalances: { before: before.tokens, after: after.tokens },
      };
      processed.add(decoded.messageHash);
      landed.set(decoded.signature, transaction);
      for (const account of decoded.accounts) {
        const known = byAccount.get(account);
        if (known) known.push(transaction);
        else byAccount.set(account, [transaction]);
      }
    },
    transaction: (signature) => landed.get(signature),
    transactionsOf: (account) => (byAccount.get(account) ?? []).toReversed(),
    commitmentOf({ slot }) {
      if (slot <= block("finalized").slot) return "finalized";
      return slot <= block("confirmed").slot ? "confirmed" : "processed";
    },
    timeOf: (slot) => recent.find((block) => block.slot === slot)?.time ?? timeOfLanded(landed.values(), slot),
  };
}

function timeOfLanded(transactions: Iterable<LandedTransaction>, slot: bigint): bigint | undefined {
  for (const { block } of transactions) if (block.slot === slot) return block.time;
  return undefined;
}

/** Current lamports and token balances of a transaction's accounts. */
function balancesOf(
  machine: Machine,
  { accounts }: DecodedTransaction,
): { lamports: bigint[]; tokens: TokenBalance[] } {
  const states = accounts.map((address) => machine.account(address));
  const tokens = states.flatMap((state, accountIndex) => {
    const holding = state && decodeTokenAccount(state.owner, state.data);
    if (!holding) return [];
    const mint = machine.account(holding.mint);
    return [{ ...holding, accountIndex, decimals: (mint && decodeMint(mint.owner, mint.data)?.decimals) ?? 0 }];
  });
  return { lamports: states.map((state) => state?.lamports ?? 0n), tokens };
}

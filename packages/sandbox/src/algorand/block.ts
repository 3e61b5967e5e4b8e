import { createHash } from "node:crypto";
import {
  type AlgorandBlock,
  blockHash,
  decodeAddress,
  encodeMsgpack,
  flatRoot,
  getInteger,
  getMap,
  headerDigest,
  headerRound,
  type MsgpackMap,
  restoreTransaction,
  splitBlock,
  structMap,
  type TransactionTree,
  transactionLeaf,
  treeRoot,
  txid,
} from "@attestd/proof/algorand";
import type { ApplyData } from "./apply.ts";
import {
  type Consensus,
  MAX_TXN_BYTES_PER_BLOCK,
  PROPOSER_BONUS,
  REWARDS_RATE_REFRESH_INTERVAL,
  STATE_PROOF_INTERVAL,
} from "./consensus.ts";
import type { Genesis } from "./genesis.ts";

/** A stored block: the bytes that a node serves, and an index of them. */
export type StoredBlock = ReturnType<typeof storeBlock>;

/** Location of a transaction: its round, and its index in the payset. */
export interface Location {
  round: number;
  index: number;
}

export interface BlockTransaction extends Location {
  id: string;
  /** Unsigned, with its genesis restored. */
  txn: MsgpackMap;
  /** The payset's entry for it. */
  inBlock: MsgpackMap;
  /** Seconds since 1970. */
  timestamp: number;
}

/** The members of a header that follow neither from its genesis nor from its payset. */
interface HeaderFields {
  round: number;
  /** Seconds since 1970. */
  timestamp: number;
  /** 32 bytes. */
  seed: Uint8Array;
  /** Transactions in the chain up to and including this block (`tc`). */
  counter: number;
  /** Canonical msgpack of the previous header; absent at the beginning of the chain. */
  previousHeader?: Uint8Array;
  consensus: Consensus;
  /** `spt`; by default that of a chain with one state proof after another, of 256 rounds each. */
  stateProofs?: MsgpackMap | undefined;
}

/** The part of a genesis that its blocks contain. Recorded transactions may come from a chain with an unknown id. */
type BlockGenesis = Pick<Genesis, "special" | "proposer"> & { hash: Uint8Array; id: string | undefined };

/**
 * Makes a block of consensus v41 or v42 with all commitments in its header: to the previous header (`prev`, `prev512`) and to the
 * payset (`txn`, `txn256`, `txn512`). Its certificate names the block but has no votes.
 */
export function makeBlock(genesis: BlockGenesis, fields: HeaderFields, payset: MsgpackMap[]): StoredBlock {
  const { round, previousHeader, consensus } = fields;
  const chain = structMap({ gen: genesis.id, gh: genesis.hash });
  const root = (tree: TransactionTree) => treeRoot(tree, paysetLeaves(tree, chain, payset));
  const proposer = decodeAddress(genesis.proposer);
  const header = structMap({
    bi: PROPOSER_BONUS,
    ct: consensus.isSince42 ? consensus.congestionTax : undefined,
    fc: payset.reduce((sum, entry) => sum + getInteger(getMap(entry, "txn") ?? new Map(), "fee"), 0n),
    fees: decodeAddress(genesis.special.feeSink),
    gen: genesis.id,
    gh: genesis.hash,
    ld: consensus.isSince42 ? loadOf(payset) : undefined,
    prev: previousHeader && headerDigest(previousHeader),
    prev512: previousHeader && createHash("sha512").update("BH").update(previousHeader).digest(),
    proto: consensus.version,
    prp: proposer,
    rnd: round,
    rwcalr: nextMultiple(round, REWARDS_RATE_REFRESH_INTERVAL),
    rwd: decodeAddress(genesis.special.rewardsPool),
    seed: fields.seed,
    spt:
      fields.stateProofs ??
      new Map([[0, structMap({ n: nextMultiple(round + STATE_PROOF_INTERVAL, STATE_PROOF_INTERVAL) })]]),
    tc: fields.counter,
    ts: fields.timestamp,
    // An empty plain tree has the zero root, which a header omits.
    txn: payset.length === 0 ? undefined : root("txn"),
    txn256: root("txn256"),
    txn512: root("txn512"),
  });
  const headerBytes = encodeMsgpack(header);
  const prop = structMap({ dig: headerDigest(headerBytes), oprop: proposer });
  const cert = structMap({ prop, rnd: round, step: 2 });
  const block = payset.length === 0 ? header : new Map(header).set("txns", payset);
  return storeBlock(encodeMsgpack(structMap({ block, cert })));
}

/**
 * Makes the first block of a chain. It commits to its empty payset as one flat list, has no other trees, and nobody
 * certified it.
 */
export function makeGenesisBlock(genesis: Genesis, { seed, counter, consensus }: HeaderFields): StoredBlock {
  const block = structMap({
    fees: decodeAddress(genesis.special.feeSink),
    gen: genesis.id,
    gh: genesis.hash,
    proto: consensus.version,
    rwcalr: REWARDS_RATE_REFRESH_INTERVAL,
    rwd: decodeAddress(genesis.special.rewardsPool),
    seed,
    tc: counter,
    ts: genesis.document.timestamp,
    txn: flatRoot(),
  });
  return storeBlock(encodeMsgpack(new Map(Object.entries({ block, cert: new Map() }))));
}

/** Returns how full the payset makes a block, in millionths; undefined when it is 0, which a header omits. */
function loadOf(payset: MsgpackMap[]): number | undefined {
  const bytes = payset.reduce((sum, entry) => sum + encodeMsgpack(entry).length, 0);
  return Math.floor((bytes * 1_000_000) / MAX_TXN_BYTES_PER_BLOCK) || undefined;
}

/**
 * Indexes a block, made here or recorded.
 * @throws ProofError `malformed` when the bytes are not a block
 */
export function storeBlock(bytes: Uint8Array) {
  const block = splitBlock(bytes);
  return {
    round: headerRound(block.header),
    /** `{block, cert}` in canonical msgpack. */
    bytes,
    /** 52 characters of base32. */
    hash: blockHash(block.headerBytes),
    /** Ids in payset order. */
    txids: blockTransactions(block).map(({ id }) => id),
  };
}

/** Returns a block's transactions in payset order. @throws ProofError `malformed` when an entry is not a transaction */
export function blockTransactions({ header, transactions }: AlgorandBlock): BlockTransaction[] {
  const round = headerRound(header);
  const timestamp = Number(getInteger(header, "ts"));
  return transactions.map((inBlock, index) => {
    const txn = restoreTransaction(inBlock, header);
    return { id: txid(encodeMsgpack(txn)), txn, inBlock, round, index, timestamp };
  });
}

/**
 * Makes the entry of a payset: the signed transaction without the genesis in the header, and its effects.
 * @param signed the envelope: `txn` and a signature
 */
export function inBlockMap(signed: MsgpackMap, txn: MsgpackMap, applied: ApplyData): MsgpackMap {
  const stripped = new Map(txn);
  const hasGenesisId = stripped.delete("gen");
  stripped.delete("gh");
  const entry = structMap({ hgi: hasGenesisId, ...applied });
  for (const [name, value] of signed) entry.set(name, value);
  return entry.set("txn", stripped);
}

/** Returns the leaves of one of a block's trees, in payset order. @param header at least its `gen` and `gh` */
export function paysetLeaves(tree: TransactionTree, header: MsgpackMap, payset: MsgpackMap[]): Uint8Array[] {
  return payset.map((inBlock) =>
    transactionLeaf(tree, encodeMsgpack(restoreTransaction(inBlock, header)), encodeMsgpack(inBlock)),
  );
}

function nextMultiple(round: number, interval: number): number {
  return (Math.floor(round / interval) + 1) * interval;
}

/** All blocks of a sandbox, recorded and its own, by round. Rounds are added in ascending order and never change. */
export class BlockStore {
  readonly #blocks = new Map<number, StoredBlock>();
  readonly #locations = new Map<string, Location>();
  /** Ascending, without empty rounds. */
  readonly #paysetRounds: number[] = [];

  add(block: StoredBlock): void {
    this.#blocks.set(block.round, block);
    if (block.txids.length > 0) this.#paysetRounds.push(block.round);
    for (const [index, id] of block.txids.entries()) this.#locations.set(id, { round: block.round, index });
  }

  block(round: number): StoredBlock | undefined {
    return this.#blocks.get(round);
  }

  locate(txid: string): Location | undefined {
    return this.#locations.get(txid);
  }

  /** Rounds that have transactions, ascending. */
  paysetRounds(): readonly number[] {
    return this.#paysetRounds;
  }

  /** Returns the transactions of a round, in payset order; none when there is no such block. */
  payset(round: number): BlockTransaction[] {
    const stored = this.#blocks.get(round);
    return stored === undefined ? [] : blockTransactions(splitBlock(stored.bytes));
  }
}

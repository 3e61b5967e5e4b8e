import { createHash } from "node:crypto";
import {
  type AlgorandBlock,
  blockHash,
  decodeAddress,
  encodeMsgpack,
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
import { concatBytes, utf8 } from "@attestd/proof/encoding";
import type { ApplyData } from "./apply.ts";
import { CONSENSUS_VERSION, PROPOSER_BONUS, REWARDS_RATE_REFRESH_INTERVAL, STATE_PROOF_INTERVAL } from "./consensus.ts";
import type { SpecialAddresses } from "./verify.ts";

/** A stored block: the bytes that a node serves, and an index of them. */
export interface StoredBlock {
  round: number;
  /** `{block, cert}` in canonical msgpack. */
  bytes: Uint8Array;
  /** 52 characters of base32. */
  hash: string;
  /** Ids in payset order. */
  txids: string[];
}

/** A payset's transaction with its genesis restored, and the in-block map that it came from. */
export interface BlockTransaction {
  id: string;
  /** Unsigned. */
  txn: MsgpackMap;
  inBlock: MsgpackMap;
}

/** The members of a header that do not depend on its payset. */
export interface HeaderFields {
  round: number;
  /** Seconds since 1970. */
  timestamp: number;
  genesisId: string | undefined;
  genesisHash: Uint8Array;
  special: SpecialAddresses;
  proposer: string;
  /** 32 bytes. */
  seed: Uint8Array;
  /** Transactions in the chain up to and with this block (`tc`). */
  counter: number;
  /** microAlgos in this payset. */
  feesCollected: bigint;
  /** Canonical msgpack of the header before; undefined where the chain begins. */
  previousHeader: Uint8Array | undefined;
}

/**
 * Makes a block of consensus v41 with all commitments in its header: to the previous header (`prev`, `prev512`) and to the
 * payset (`txn`, `txn256`, `txn512`). Its certificate names the block but has no votes.
 */
export function makeBlock(fields: HeaderFields, payset: MsgpackMap[]): StoredBlock {
  const { round, special, previousHeader } = fields;
  const chain = structMap({ gen: fields.genesisId, gh: fields.genesisHash });
  const roots = paysetRoots(chain, payset);
  const header = structMap({
    bi: PROPOSER_BONUS,
    fc: fields.feesCollected,
    fees: decodeAddress(special.feeSink),
    gen: fields.genesisId,
    gh: fields.genesisHash,
    prev: previousHeader && headerDigest(previousHeader),
    prev512: previousHeader && createHash("sha512").update("BH").update(previousHeader).digest(),
    proto: CONSENSUS_VERSION,
    prp: decodeAddress(fields.proposer),
    rnd: round,
    rwcalr: nextMultiple(round, REWARDS_RATE_REFRESH_INTERVAL),
    rwd: decodeAddress(special.rewardsPool),
    seed: fields.seed,
    spt: new Map([[0, structMap({ n: nextMultiple(round + STATE_PROOF_INTERVAL, STATE_PROOF_INTERVAL) })]]),
    tc: fields.counter,
    ts: fields.timestamp,
    // An empty plain tree has the zero root, which a header omits.
    txn: payset.length === 0 ? undefined : roots.txn,
    txn256: roots.txn256,
    txn512: roots.txn512,
  });
  const headerBytes = encodeMsgpack(header);
  const cert = structMap({
    prop: structMap({ dig: headerDigest(headerBytes), oprop: decodeAddress(fields.proposer) }),
    rnd: round,
    step: 2,
  });
  const block = payset.length === 0 ? header : new Map(header).set("txns", payset);
  return storeBlock(encodeMsgpack(structMap({ block, cert })));
}

/**
 * Indexes a block, made here or recorded.
 * @throws DecodeError when the bytes are not a block
 */
export function storeBlock(bytes: Uint8Array): StoredBlock {
  const block = splitBlock(bytes);
  return {
    round: headerRound(block.header),
    bytes,
    hash: blockHash(block.headerBytes),
    txids: blockTransactions(block).map(({ id }) => id),
  };
}

/** A block's payset with genesis restored. @throws DecodeError when an entry is not a transaction */
export function blockTransactions({ header, transactions }: AlgorandBlock): BlockTransaction[] {
  return transactions.map((inBlock) => {
    const txn = restoreTransaction(inBlock, header);
    return { id: txid(encodeMsgpack(txn)), txn, inBlock };
  });
}

/**
 * The entry of a payset: the signed transaction without the genesis that the header has, and its effects.
 * @param signed the envelope: `txn` and a signature
 */
export function inBlockMap(signed: MsgpackMap, txn: MsgpackMap, applied: ApplyData): MsgpackMap {
  const stripped = new Map(txn);
  const hasGenesisId = stripped.delete("gen");
  stripped.delete("gh");
  const entry = structMap({
    hgi: hasGenesisId,
    ca: applied.closingAmount,
    aca: applied.assetClosingAmount,
    caid: applied.createdAsset,
  });
  for (const [name, value] of signed) entry.set(name, value);
  return entry.set("txn", stripped);
}

/** The leaves of one of a block's trees, in payset order. @param header at least its `gen` and `gh` */
export function paysetLeaves(tree: TransactionTree, header: MsgpackMap, payset: MsgpackMap[]): Uint8Array[] {
  return payset.map((inBlock) =>
    transactionLeaf(tree, encodeMsgpack(restoreTransaction(inBlock, header)), encodeMsgpack(inBlock)),
  );
}

/** `H("STIB" ‖ in-block map)`, which a leaf holds beside the id; SHA-256 in `txn256`, SHA-512/256 in `txn`. */
export function stibHash(tree: "txn" | "txn256", inBlock: MsgpackMap): Uint8Array {
  const algorithm = tree === "txn256" ? "sha256" : "sha512-256";
  return createHash(algorithm)
    .update(concatBytes(utf8("STIB"), encodeMsgpack(inBlock)))
    .digest();
}

function paysetRoots(chain: MsgpackMap, payset: MsgpackMap[]): Record<TransactionTree, Uint8Array> {
  const root = (tree: TransactionTree) => treeRoot(tree, paysetLeaves(tree, chain, payset));
  return { txn: root("txn"), txn256: root("txn256"), txn512: root("txn512") };
}

function nextMultiple(round: number, interval: number): number {
  return (Math.floor(round / interval) + 1) * interval;
}

import {
  type AlgorandBlock,
  decodeMsgpackMap,
  encodeAddress,
  encodeMsgpack,
  getBytes,
  getInteger,
  getMap,
  getString,
  headerDigest,
  isCanonicalTransaction,
  isFlat,
  type MsgpackMap,
  splitBlock,
  treeRoot,
  txid,
} from "@attestd/proof/algorand";
import { equalBytes, fromBase64, toBase64 } from "@attestd/proof/encoding";
import { named, readRecordingFiles } from "../recording-files.ts";
import { inBlockMap, makeBlock, paysetLeaves, type StoredBlock, storeBlock } from "./block.ts";
import { CONSENSUS } from "./consensus.ts";
import type { Genesis } from "./genesis.ts";

/** Genesis ids of the public networks: old transactions often lack theirs. */
const PUBLIC_GENESIS_IDS: Record<string, string> = {
  "wGHE2Pwdvd7S12BL5FaOP20EGYesN73ktiC1qzkkit8=": "mainnet-v1.0",
  "SGO1GKSzyE7IEPItTxCByw9x8FmnrCDexi9/cOUJOiI=": "testnet-v1.0",
};

/**
 * Reads recorded real data that a sandbox serves in addition to its own chain: `algorand/blocks/*.msgpack` (`{block,
 * cert?}` from algod, served unchanged) and `algorand/transactions/*.json` (lists of `{txid, type, round?, sender,
 * txnMsgpackBase64, sigBase64}`, for each of which a block is made). Either folder may be absent.
 * @param genesis of the sandbox, whose special addresses and time are in the blocks that are made
 * @returns the blocks in ascending order of their rounds, and base64 of every genesis hash found
 * @throws Error with the file's name when a recording contradicts itself, or when two have the same round
 */
export async function readRecordings(replayDir: string | undefined, genesis: Genesis) {
  const names = new Map<number, string>();
  const blocks: StoredBlock[] = [];
  const add = (block: StoredBlock, name: string) => {
    const other = names.get(block.round);
    if (other !== undefined) throw new Error(`two recordings claim round ${block.round}: ${other} and ${name}`);
    names.set(block.round, name);
    blocks.push(block);
  };
  const genesisHashes = new Set<string>();
  const genesisIds = new Map(Object.entries(PUBLIC_GENESIS_IDS));
  /** Notes the chain that a header or transaction names. */
  const addChain = (map: MsgpackMap) => {
    const hash = toBase64(genesisHash(map));
    genesisHashes.add(hash);
    const id = getString(map, "gen");
    if (id !== undefined) genesisIds.set(hash, id);
  };

  for (const [name, bytes] of await readRecordingFiles(replayDir, "algorand/blocks", ".msgpack")) {
    const block = named(name, () => checkedBlock(bytes));
    addChain(block.header);
    add(storeBlock(bytes), name);
  }
  const files = await readRecordingFiles(replayDir, "algorand/transactions", ".json");
  const recorded = files.flatMap(([name, bytes]) => named(name, () => recordedTransactions(name, bytes)));
  for (const { txn } of recorded) addChain(txn);
  // Transactions that state their round come first; the others take a free round of their validity.
  recorded.sort((a, b) => Number(a.round === undefined) - Number(b.round === undefined));
  for (const { name, txn, signature, round = freeRound(name, txn, names) } of recorded) {
    const hash = genesisHash(txn);
    const chain = { ...genesis, hash, id: genesisIds.get(toBase64(hash)) };
    const fields = {
      round,
      timestamp: genesis.document.timestamp,
      seed: genesis.hash,
      counter: 1,
      consensus: CONSENSUS.v41,
    };
    add(makeBlock(chain, fields, [inBlockMap(new Map([["sig", signature]]), txn, {})]), name);
  }
  return { blocks: blocks.sort((a, b) => a.round - b.round), genesisHashes: [...genesisHashes] };
}

function checkedBlock(bytes: Uint8Array): AlgorandBlock {
  const block = splitBlock(bytes);
  genesisHash(block.header);
  const certified = block.cert && getBytes(getMap(block.cert, "prop") ?? new Map(), "dig", 32);
  if (certified !== undefined && !equalBytes(certified, headerDigest(block.headerBytes)))
    throw new Error("the block's hash is not the one that its certificate names");
  const trees = isFlat(block.header, encodeMsgpack(block.transactions)) ? [] : (["txn", "txn256", "txn512"] as const);
  for (const tree of trees) {
    const root = getBytes(block.header, tree);
    if (root !== undefined && !equalBytes(root, treeRoot(tree, paysetLeaves(tree, block.header, block.transactions))))
      throw new Error(`the block's transactions are not those of its ${tree}`);
  }
  return block;
}

/** The genesis hash in a header or transaction, 32 bytes. */
function genesisHash(map: MsgpackMap): Uint8Array {
  const hash = getBytes(map, "gh", 32);
  if (hash === undefined) throw new Error("it has no genesis hash, so its chain is unknown");
  return hash;
}

function recordedTransactions(name: string, bytes: Uint8Array) {
  const list: unknown = JSON.parse(Buffer.from(bytes).toString("utf8"));
  if (!Array.isArray(list)) throw new Error("not a list of transactions");
  return list.map((item, index) => named(String(item?.txid ?? index), () => recordedTransaction(name, item)));
}

/** Checks a signed transaction without its block. Its `name`, file and id, is for errors. */
function recordedTransaction(file: string, item: Record<string, unknown>) {
  const bytes = fromBase64(String(item.txnMsgpackBase64));
  if (!isCanonicalTransaction(bytes)) throw new Error("txnMsgpackBase64 is not canonical msgpack of a transaction");
  const id = txid(bytes);
  if (id !== item.txid) throw new Error(`the bytes are those of ${id}`);
  const txn = decodeMsgpackMap(bytes);
  if (getString(txn, "type") !== item.type) throw new Error(`the bytes are of type ${getString(txn, "type")}`);
  const sender = encodeAddress(getBytes(txn, "snd", 32) ?? new Uint8Array(32));
  if (sender !== item.sender) throw new Error(`the bytes are sent by ${sender}`);
  genesisHash(txn);
  const signature = fromBase64(String(item.sigBase64));
  if (signature.length !== 64) throw new Error("sigBase64 is not 64 bytes");
  const round = item.round === undefined ? undefined : Number(item.round);
  const [first, last] = [getInteger(txn, "fv"), getInteger(txn, "lv")];
  if (round !== undefined && !(Number.isSafeInteger(round) && round >= first && round <= last))
    throw new Error(`round ${item.round} is outside of its validity, ${first} to ${last}`);
  return { name: `${file}: ${id}`, txn, signature, round };
}

/** The first round of the transaction's validity that no recording has. */
function freeRound(name: string, txn: MsgpackMap, taken: Map<number, string>): number {
  const last = Number(getInteger(txn, "lv"));
  for (let round = Number(getInteger(txn, "fv")); round <= last; round++) if (!taken.has(round)) return round;
  throw new Error(`${name}: every round of its validity is taken by another recording`);
}

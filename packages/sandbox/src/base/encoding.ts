import { fromRlp, type Hex, recoverTransactionAddress, type TransactionSerialized } from "viem";

type RlpItem = Hex | RlpItem[];
type Reader = (item: RlpItem) => unknown;

/** The header's fields in order: the yellow paper's fifteen, then those of later forks. */
const HEADER =
  "parentHash sha3Uncles miner stateRoot transactionsRoot receiptsRoot logsBloom difficulty number gasLimit gasUsed timestamp extraData mixHash nonce baseFeePerGas withdrawalsRoot blobGasUsed excessBlobGas parentBeaconBlockRoot requestsHash";
const HEADER_QUANTITIES = "difficulty number gasLimit gasUsed timestamp baseFeePerGas blobGasUsed excessBlobGas";

/** Fields by EIP-2718 type: legacy, EIP-2930, EIP-1559, EIP-7702, and the OP Stack's deposit. */
const TRANSACTION: Record<string, string> = {
  "0x0": "nonce gasPrice gas to value input v r s",
  "0x1": "chainId nonce gasPrice gas to value input accessList yParity r s",
  "0x2": "chainId nonce maxPriorityFeePerGas maxFeePerGas gas to value input accessList yParity r s",
  "0x4": "chainId nonce maxPriorityFeePerGas maxFeePerGas gas to value input accessList authorizationList yParity r s",
  "0x7e": "sourceHash from to mint value gas isSystemTx input",
};
const AUTHORIZATION = "chainId address nonce yParity r s";

const bytes: Reader = (item) => item;
/** JSON-RPC's quantity: no leading zeros, and `0x0` for zero, which is empty in RLP. */
const quantity: Reader = (item) => `0x${BigInt(item === "0x" ? 0 : (item as Hex)).toString(16)}`;

/** Readers of the fields that are not quantities. */
const TRANSACTION_READERS: Record<string, Reader> = {
  sourceHash: bytes,
  from: bytes,
  address: bytes,
  input: bytes,
  to: (item) => (item === "0x" ? null : item),
  isSystemTx: (item) => item === "0x01",
  accessList: (item) => (item as [Hex, Hex[]][]).map(([address, storageKeys]) => ({ address, storageKeys })),
  authorizationList: (item) => (item as RlpItem[]).map((entry) => readTransactionFields(AUTHORIZATION, entry)),
};

/**
 * A block header in JSON-RPC's form.
 * @param rlp the header's RLP, `0x` hex
 * @throws {Error} when it is not a list of 15 to 21 fields
 */
export function headerFromRlp(rlp: Hex): Record<string, unknown> {
  const items = fromRlp(rlp, "hex") as RlpItem;
  const known = HEADER.split(" ");
  if (!Array.isArray(items) || items.length < 15) throw new Error("a block header is a list of at least 15 fields");
  const quantities = HEADER_QUANTITIES.split(" ");
  return readFields(known.slice(0, items.length), items, (name) => (quantities.includes(name) ? quantity : bytes));
}

/** The EIP-2718 type of a transaction's bytes as JSON-RPC writes it; `0x0` for a legacy one, which has no type byte. */
export function transactionType(raw: Hex): Hex {
  const first = Number.parseInt(raw.slice(2, 4), 16);
  return first >= 0xc0 ? "0x0" : `0x${first.toString(16)}`;
}

/**
 * The members of JSON-RPC's transaction object that follow from its bytes; for an unknown type only `type`.
 * @param raw EIP-2718 bytes, `0x` hex
 * @throws {Error} when the bytes are not those of their type
 */
export async function transactionFromBytes(raw: Hex): Promise<Record<string, unknown>> {
  const type = transactionType(raw);
  const fields = TRANSACTION[type];
  if (fields === undefined) return { type };
  const members = readTransactionFields(fields, fromRlp(type === "0x0" ? raw : `0x${raw.slice(4)}`, "hex") as RlpItem);
  if (type === "0x7e") return { type, ...members };
  const from = await recoverTransactionAddress({ serializedTransaction: raw as TransactionSerialized });
  // Nodes return a typed transaction's parity as `v` too.
  return { type, from: from.toLowerCase(), v: members.yParity, ...members };
}

function readTransactionFields(fields: string, items: RlpItem): Record<string, unknown> {
  return readFields(fields.split(" "), items, (name) => TRANSACTION_READERS[name] ?? quantity);
}

function readFields(names: string[], items: RlpItem, reader: (name: string) => Reader): Record<string, unknown> {
  if (!Array.isArray(items) || items.length !== names.length) throw new Error(`expected ${names.length} fields`);
  return Object.fromEntries(names.map((name, index) => [name, reader(name)(items[index] ?? "0x")]));
}

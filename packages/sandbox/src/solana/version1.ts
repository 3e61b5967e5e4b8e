import {
  type Address,
  getAddressDecoder,
  getAddressEncoder,
  getBase58Decoder,
  getBase58Encoder,
  type ReadonlyUint8Array,
} from "@solana/kit";

/*
 * Transactions of version 1 (SIMD-0385), which @solana/kit 5 does not know: the version byte, 3 header bytes, the mask of
 * the configuration, the blockhash, the numbers of instructions and of addresses, the addresses, the configuration, the
 * instructions' headers, their accounts and data; the signatures last, one for each signer and without their number.
 */

/** The first byte of a transaction. */
export const VERSION_1 = 0x81;
export const MAX_VERSION_1_BYTES = 4096;

const SIGNATURE_BYTES = 64;
const ADDRESS_BYTES = 32;
const ADDRESSES_AT = 42;
/** Bits of the mask: two for the priority fee, in lamports (u64), then one each for u32 values. */
const PRIORITY_FEE = 0b11;
const COMPUTE_UNITS = 0b100;
const LOADED_BYTES = 0b1000;
const CONFIG_BITS = 5;

/** A decoded message, in the form of @solana/kit's older versions. */
export interface Message {
  version: "legacy" | 0 | 1;
  header: { numSignerAccounts: number; numReadonlySignerAccounts: number; numReadonlyNonSignerAccounts: number };
  staticAccounts: readonly Address[];
  /** The blockhash, in base58. */
  lifetimeToken: string;
  instructions: readonly Instruction[];
}

export interface Instruction {
  programAddressIndex: number;
  accountIndices?: readonly number[];
  data?: ReadonlyUint8Array;
}

/**
 * Decodes a transaction of version 1.
 *
 * @throws {Error} when the bytes are not exactly one
 */
export function decodeVersion1(wire: Uint8Array): {
  message: Message;
  messageBytes: Uint8Array;
  signatures: Uint8Array[];
} {
  const bytes = Buffer.from(wire);
  const [, numSignerAccounts = 0, numReadonlySignerAccounts = 0, numReadonlyNonSignerAccounts = 0] = bytes;
  const end = bytes.length - SIGNATURE_BYTES * numSignerAccounts;
  if (bytes[0] !== VERSION_1 || end < ADDRESSES_AT) throw new Error("not a transaction of version 1");
  const messageBytes = bytes.subarray(0, end);
  let at = ADDRESSES_AT;
  const take = (length: number) => {
    if (at + length > end) throw new Error("a transaction of version 1 that is cut off");
    at += length;
    return messageBytes.subarray(at - length, at);
  };
  const [numInstructions = 0, numAddresses = 0] = messageBytes.subarray(ADDRESSES_AT - 2);
  const staticAccounts = times(numAddresses, () => getAddressDecoder().decode(take(ADDRESS_BYTES)));
  const mask = messageBytes.readUInt32LE(4);
  for (let bit = 0; bit < CONFIG_BITS; bit++) if (mask & (1 << bit)) take(4);
  const headers = times(numInstructions, () => take(4));
  const instructions = headers.map((header) => ({
    programAddressIndex: header.readUInt8(0),
    accountIndices: [...take(header.readUInt8(1))],
    data: new Uint8Array(take(header.readUInt16LE(2))),
  }));
  if (at !== end) throw new Error("trailing bytes");
  return {
    message: {
      version: 1,
      header: { numSignerAccounts, numReadonlySignerAccounts, numReadonlyNonSignerAccounts },
      staticAccounts,
      lifetimeToken: getBase58Decoder().decode(messageBytes.subarray(8, 40)),
      instructions,
    },
    messageBytes,
    signatures: times(numSignerAccounts, (i) =>
      bytes.subarray(end + SIGNATURE_BYTES * i, end + SIGNATURE_BYTES * (i + 1)),
    ),
  };
}

/** The compute budget, which older versions set by instructions. */
export interface Version1Config {
  /** Lamports, for the whole transaction. */
  priorityFee: bigint;
  computeUnits: number;
  /** Bytes of accounts and programs that it may load. */
  loadedBytes: number;
}

/** The message bytes of a transaction of version 1, which its signers sign and which precede the signatures. */
export function encodeVersion1(
  { header, staticAccounts, lifetimeToken, instructions }: Omit<Message, "version">,
  { priorityFee, computeUnits, loadedBytes }: Version1Config,
): Uint8Array {
  const { numSignerAccounts, numReadonlySignerAccounts, numReadonlyNonSignerAccounts } = header;
  const config = Buffer.alloc(16);
  config.writeBigUInt64LE(priorityFee);
  config.writeUInt32LE(computeUnits, 8);
  config.writeUInt32LE(loadedBytes, 12);
  const mask = Buffer.alloc(4);
  mask.writeUInt32LE(PRIORITY_FEE | COMPUTE_UNITS | LOADED_BYTES);
  const headers = instructions.map(({ programAddressIndex, accountIndices = [], data = new Uint8Array() }) =>
    Buffer.from([programAddressIndex, accountIndices.length, data.length & 0xff, data.length >> 8]),
  );
  return Buffer.concat([
    Buffer.from([VERSION_1, numSignerAccounts, numReadonlySignerAccounts, numReadonlyNonSignerAccounts]),
    mask,
    new Uint8Array(getBase58Encoder().encode(lifetimeToken)),
    Buffer.from([instructions.length, staticAccounts.length]),
    ...staticAccounts.map((account) => new Uint8Array(getAddressEncoder().encode(account))),
    config,
    ...headers,
    ...instructions.map(({ accountIndices = [], data = new Uint8Array() }) =>
      Buffer.from([...accountIndices, ...data]),
    ),
  ]);
}

function times<T>(count: number, make: (index: number) => T): T[] {
  return Array.from({ length: count }, (_, index) => make(index));
}

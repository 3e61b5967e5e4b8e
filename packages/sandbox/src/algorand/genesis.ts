import { encodeAddress, encodeMsgpack, type MsgpackValue, structMap } from "@attestd/proof/algorand";
import { concatBytes, utf8 } from "@attestd/proof/encoding";
import { sha512_256 } from "@noble/hashes/sha2.js";
import { CONSENSUS_VERSION, MIN_BALANCE } from "./consensus.ts";
import type { SpecialAddresses } from "./verify.ts";

const NETWORK = "attestd-sandbox";
const SCHEMA = "v1";

/** The genesis of the sandbox's chain. */
export interface Genesis {
  /** `gen` of every transaction and block. Not an id that clients treat as a local network, with relaxed rules. */
  id: string;
  /** 32 bytes. */
  hash: Uint8Array;
  /** The answer of `GET /genesis`; its hash is `hash`. */
  document: GenesisDocument;
  special: SpecialAddresses;
  /** Named as proposer by every block. */
  proposer: string;
  /** microAlgos by address. */
  balances: Map<string, bigint>;
  /** Seconds since 1970. */
  timestamp: number;
}

export interface GenesisDocument {
  alloc: { addr: string; comment: string; state: { algo: number } }[];
  comment: string;
  fees: string;
  id: string;
  network: string;
  proto: string;
  rwd: string;
  timestamp: number;
}

/**
 * Makes a unique genesis, so that nothing signed for this chain is valid on another one, nor the other way round. Its hash
 * is `SHA-512/256("GE" ‖ msgpack(document))`, as go-algorand computes it; `nonce` makes it unique.
 * @param accounts microAlgos (below 2^53) by address, each with a comment
 * @param nonce 32 random bytes
 */
export function makeGenesis(
  accounts: { address: string; microAlgos: number; comment: string }[],
  timestamp: number,
  nonce: Uint8Array,
): Genesis {
  const special = { feeSink: keylessAddress("fee sink", nonce), rewardsPool: keylessAddress("rewards pool", nonce) };
  const proposer = keylessAddress("proposer", nonce);
  const allocations = [
    ...accounts,
    { address: special.feeSink, microAlgos: Number(MIN_BALANCE), comment: "FeeSink" },
    { address: special.rewardsPool, microAlgos: Number(MIN_BALANCE), comment: "RewardsPool" },
  ];
  const document: GenesisDocument = {
    alloc: allocations.map(({ address, microAlgos, comment }) => ({
      addr: address,
      comment,
      state: { algo: microAlgos },
    })),
    comment: "A local network of attestd: no real money.",
    fees: special.feeSink,
    id: SCHEMA,
    network: NETWORK,
    proto: CONSENSUS_VERSION,
    rwd: special.rewardsPool,
    timestamp,
  };
  return {
    id: `${NETWORK}-${SCHEMA}`,
    hash: sha512_256(concatBytes(utf8("GE"), encodeMsgpack(structMap({ ...document, alloc: allocMaps(document) })))),
    document,
    special,
    proposer,
    balances: new Map(allocations.map(({ address, microAlgos }) => [address, BigInt(microAlgos)])),
    timestamp,
  };
}

function allocMaps({ alloc }: GenesisDocument): MsgpackValue {
  return alloc.map(
    ({ addr, comment, state }) =>
      new Map<string, MsgpackValue>([
        ["addr", addr],
        ["comment", comment],
        ["state", structMap(state)],
      ]),
  );
}

/** An address without a key, unique to this sandbox. */
function keylessAddress(use: string, nonce: Uint8Array): string {
  return encodeAddress(sha512_256(concatBytes(utf8(use), nonce)));
}

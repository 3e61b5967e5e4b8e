import { encodeMsgpack, type MsgpackValue, structMap } from "@attestd/proof/algorand/msgpack";
import { encodeAddress } from "@attestd/proof/algorand/transaction";
import { concatBytes, utf8 } from "@attestd/proof/encoding";
import { sha512_256 } from "@noble/hashes/sha2.js";
import { CONSENSUS_VERSION, MIN_BALANCE } from "./consensus.ts";
import type { SpecialAddresses } from "./verify.ts";

const NETWORK = "attestd-sandbox";
const SCHEMA = "v1";

/** Where the sandbox's chain begins. */
export interface Genesis {
  /** `gen` of every transaction and block. Not one of the ids by which clients know a local network and relax. */
  id: string;
  /** 32 bytes. */
  hash: Uint8Array;
  /** As `GET /genesis` gives it; hashes to `hash`. */
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
 * A genesis of its own, and so a chain on which nothing signed for another one is valid, nor the other way round. Its
 * hash is `SHA-512/256("GE" ‖ msgpack(document))`, as go-algorand computes it; `nonce` makes it unlike any other's.
 * @param accounts microAlgos (below 2^53) by address, each with a word about whose it is
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

/** An address to which no one has the key, and unlike that of any other sandbox. */
function keylessAddress(use: string, nonce: Uint8Array): string {
  return encodeAddress(sha512_256(concatBytes(utf8(use), nonce)));
}

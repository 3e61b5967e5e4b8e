import { encodeAddress, encodeMsgpack, structMap } from "@attestd/proof/algorand";
import { concatBytes, utf8 } from "@attestd/proof/encoding";
import { sha512_256 } from "@noble/hashes/sha2.js";
import { type Consensus, MIN_BALANCE } from "./consensus.ts";

const NETWORK = "attestd-sandbox";
const SCHEMA = "v1";

/** The genesis of the sandbox's chain. */
export type Genesis = ReturnType<typeof makeGenesis>;

/** The initial balance of an account: microAlgos below 2^53. */
interface Allocation {
  address: string;
  microAlgos: number;
  comment: string;
}

/**
 * Makes a unique genesis, so that nothing signed for this chain is valid on another one, or the reverse. Its hash is
 * `SHA-512/256("GE" ‖ msgpack(document))`, as in go-algorand.
 * @param timestamp seconds since 1970
 * @param nonce 32 random bytes, which make it unique
 * @param consensus the version of its first block
 */
export function makeGenesis(
  accounts: Allocation[],
  timestamp: number,
  nonce: Uint8Array,
  { version }: Pick<Consensus, "version">,
) {
  const feeSink = keylessAddress("fee sink", nonce);
  const rewardsPool = keylessAddress("rewards pool", nonce);
  const allocations = [
    ...accounts,
    { address: feeSink, microAlgos: Number(MIN_BALANCE), comment: "FeeSink" },
    { address: rewardsPool, microAlgos: Number(MIN_BALANCE), comment: "RewardsPool" },
  ];
  const document = {
    alloc: allocations.map(({ address, microAlgos, comment }) => ({
      addr: address,
      comment,
      state: { algo: microAlgos },
    })),
    comment: "A local network of attestd: no real money.",
    fees: feeSink,
    id: SCHEMA,
    network: NETWORK,
    proto: version,
    rwd: rewardsPool,
    timestamp,
  };
  const alloc = document.alloc.map(({ state, ...member }) => structMap({ ...member, state: structMap(state) }));
  return {
    /** `gen` of every transaction and block. Not an id that clients treat as a local network, with relaxed rules. */
    id: `${NETWORK}-${SCHEMA}`,
    /** 32 bytes. */
    hash: sha512_256(concatBytes(utf8("GE"), encodeMsgpack(structMap({ ...document, alloc })))),
    /** The answer of `GET /genesis`; its hash is `hash`. */
    document,
    /** Accounts without keys, which may not send. */
    special: { feeSink, rewardsPool },
    /** The proposer that every block names. */
    proposer: keylessAddress("proposer", nonce),
  };
}

/** An address without a key, unique to this sandbox. */
function keylessAddress(use: string, nonce: Uint8Array): string {
  return encodeAddress(sha512_256(concatBytes(utf8(use), nonce)));
}

import { decodeCanonicalMap, getBytes, getInteger, headerRound, type MsgpackMap } from "../algorand/index.ts";
import { malformed } from "../errors.ts";

/** A block header that inclusions and state proofs refer to. */
export type ProvenHeader = {
  /** Canonical msgpack. */
  bytes: Uint8Array;
  /** The decoded header. */
  map: MsgpackMap;
  /** 32 bytes. */
  genesisHash: Uint8Array;
  /** `txn256`, 32 bytes. */
  root: Uint8Array;
  round: number;
  /** Unix seconds. */
  time: number;
};

/**
 * Reads a header that a state proof can cover.
 * @param bytes canonical msgpack of the header map
 * @throws ProofError `malformed` also without `gh` or `txn256`, because such a header has no light header
 */
export function readHeader(bytes: Uint8Array): ProvenHeader {
  const map = decodeCanonicalMap(bytes);
  const [genesisHash, root] = [getBytes(map, "gh", 32), getBytes(map, "txn256", 32)];
  const time = Number(getInteger(map, "ts"));
  if (genesisHash === undefined || root === undefined || time >= 2 ** 43)
    throw malformed("header lacks gh or txn256, or its ts is 2^43 or more");
  return { bytes, map, genesisHash, root, time, round: headerRound(map) };
}

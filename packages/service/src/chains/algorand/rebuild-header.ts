import { blockHash, encodeMsgpack, type MsgpackMap, type MsgpackValue } from "@attestd/proof/algorand";
import { toBase32 } from "@attestd/proof/encoding";
import {
  address,
  bytes,
  digest,
  flag,
  integer,
  type Json,
  list,
  object,
  type Read,
  rebuilt,
  struct,
  text,
} from "./indexer-json.ts";

/** Reads a member of a nested JSON object. */
const within = (outer: string, member: string, read: Read) => (json: Json) => read(object(json[outer] ?? {})[member]);

const tracked = struct({
  v: ["voters-commitment", bytes],
  t: ["online-total-weight", integer],
  n: ["next-round", integer],
});

/** Field names: go-algorand, `data/bookkeeping/block.go`. JSON members: indexer 3.9, `api/`. */
const header = struct({
  rnd: ["round", integer],
  prev: ["previous-block-hash", digest],
  prev512: ["previous-block-hash-512", digest],
  seed: ["seed", digest],
  txn: ["transactions-root", digest],
  txn256: ["transactions-root-sha256", digest],
  txn512: ["transactions-root-sha512", digest],
  ts: ["timestamp", integer],
  gen: ["genesis-id", text],
  gh: ["genesis-hash", digest],
  prp: ["proposer", address],
  fc: ["fees-collected", integer],
  bi: ["bonus", integer],
  pp: ["proposer-payout", integer],
  fees: within("rewards", "fee-sink", address),
  rwd: within("rewards", "rewards-pool", address),
  earn: within("rewards", "rewards-level", integer),
  rate: within("rewards", "rewards-rate", integer),
  frac: within("rewards", "rewards-residue", integer),
  rwcalr: within("rewards", "rewards-calculation-round", integer),
  proto: within("upgrade-state", "current-protocol", text),
  nextproto: within("upgrade-state", "next-protocol", text),
  nextyes: within("upgrade-state", "next-protocol-approvals", integer),
  nextbefore: within("upgrade-state", "next-protocol-vote-before", integer),
  nextswitch: within("upgrade-state", "next-protocol-switch-on", integer),
  upgradeprop: within("upgrade-vote", "upgrade-propose", text),
  upgradedelay: within("upgrade-vote", "upgrade-delay", integer),
  upgradeyes: within("upgrade-vote", "upgrade-approve", flag),
  tc: ["txn-counter", integer],
  spt: ({ "state-proof-tracking": tracking }) =>
    new Map(list(object)(tracking).map((one): [number | bigint, MsgpackMap] => [integer(one.type), tracked(one)])),
  partupdrmv: within("participation-updates", "expired-participation-accounts", list(address) as Read<MsgpackValue>),
  partupdabs: within("participation-updates", "absent-participation-accounts", list(address) as Read<MsgpackValue>),
});

/**
 * Rebuilds a block's header from an indexer's JSON, for rounds whose block no algod keeps. The JSON lacks what is newer
 * than its indexer, such as the load since consensus v42: a rebuilt header is a guess until its hash proves it.
 * @param next the JSON of the next round, which names its hash
 * @returns canonical msgpack of the header; undefined when the JSON does not lead to that hash
 */
export function rebuildHeader(json: Json, next: Json): Uint8Array | undefined {
  return rebuilt(() => {
    const encoded = encodeMsgpack(header(json));
    return blockHash(encoded) === toBase32(bytes(next["previous-block-hash"])) ? encoded : undefined;
  });
}

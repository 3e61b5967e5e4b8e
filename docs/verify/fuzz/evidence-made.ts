import { createHash } from "node:crypto";
import type { Bundle } from "@attestd/proof";
import { ALGORAND_MAINNET_GENESIS_HASH, decodeAddress, encodeAddress } from "@attestd/proof/algorand";
import { fromBase64, toBase32, toBase64, utf8 } from "@attestd/proof/encoding";
import { ODD_SIGNERS } from "../../../packages/proof/test/odd-signatures.ts";
import { signBundle, testAttestor, testBundle } from "../../../test/bundles/bundles.ts";
import { alterPack } from "./alter-msgpack.ts";
import type { Item } from "./evidence-items.ts";
import { bin, getMember, type Pack, pack, setMember, str, uint, unpack } from "./msgpack.ts";
import { lightLeaf, merkleWay, payLeaf } from "./proofs.ts";
import { alterBytes, type Random } from "./random.ts";
import { sha } from "./subjects.ts";
import type { Json } from "./values.ts";

/* Evidence that is made for one case: what is wrong in its bytes is under hashes that are right. The state proof is elsewhere. */

export type Made = { bundle: Bundle; items: Item[]; checkpoint: Json };

const attestor = testAttestor();
const account = decodeAddress(attestor.algorandAddress);
const GENESIS = fromBase64(ALGORAND_MAINNET_GENESIS_HASH);
const VERSIONS = ["abd3d4823c6f77349fc04c3af7b1e99fe4df699f", "925a46433742afb0b51bb939354bd907fa88bf95"];

/** A map of these members, in the order of their names. */
function struct(members: Record<string, Pack | undefined>): Pack {
  const tree: Pack = { members: [] };
  for (const [name, value] of Object.entries(members)) if (value !== undefined) setMember(tree, name, value);
  return tree;
}

/** Few of the parts are altered, so that mostly one thing is wrong. */
function maybe(random: Random, tree: Pack, once: number): Uint8Array {
  if (!random.once(once)) return pack(tree);
  return random.once(4) ? alterBytes(random, pack(tree)) : pack(alterPack(random, tree));
}

export function madeEvidence(random: Random): Made {
  const round = 1 + random.below(2 ** 20);
  const source = sourceOf(random, round);
  const b = toBase32(sha("sha512-256", utf8("BH"), source.header));
  const seconds = random.once(20) ? source.time + 1 : source.time;
  const unsigned = testBundle({
    ...{ attestor, round, txnBytes: source.transaction },
    statement: { b, n: source.round, u: seconds },
  });
  const { note } = unsigned.attest;
  const transaction = maybe(random, attestation(random, note), 8);
  const bundle = signBundle(attestor, {
    ...unsigned,
    attest: { ...unsigned.attest, txnId: toBase32(sha("sha512-256", utf8("TX"), transaction)) },
  });
  const { stib, authorisation } = entryOf(random, transaction);
  const record = underHeader(random, transaction, stib, round, 1_780_000_000);
  const stake = stakeOf(random, record.header, round);
  const ofSource = stakeOf(random, source.header, source.round);
  const items: Item[] = [
    { type: "algorand-inclusion/1", txnBytesBase64: toBase64(transaction), ...record.members },
    { type: "algorand-state-proof/1", ...stake },
    { type: "algorand-authorisation/1", ...authorisation },
    { type: "algorand-source-inclusion/1", ...source.members },
    { type: "algorand-source-state-proof/1", ...ofSource },
  ];
  const kept = items.filter(() => !random.once(8));
  return { bundle, items: kept, checkpoint: structuredClone(stake.checkpoint) as Json };
}

/** The attestation transaction, and what is near it. */
function attestation(random: Random, note: string): Pack {
  const members: Record<string, Pack | undefined> = {
    fee: uint(1000),
    fv: uint(1),
    gh: bin(GENESIS),
    lv: uint(1000),
    note: bin(utf8(note)),
    rcv: bin(account),
    snd: bin(account),
    type: str("pay"),
  };
  if (random.once(12))
    members[random.pick(["amt", "close", "rekey", "lx", "gen"])] = random.pick([uint(1), bin(account)]);
  if (random.once(12))
    members[random.pick(["note", "snd", "gh", "type"])] = random.pick([
      bin(random.bytes(32)),
      str(utf8(note).subarray(0, 200)),
      bin(utf8(note.slice(0, -1))),
      str("axfer"),
      undefined,
    ]);
  return struct(members);
}

/** The block's entry for a transaction: its signature, by whomever. */
function entryOf(random: Random, transaction: Uint8Array) {
  const message = Uint8Array.of(...utf8("TX"), ...transaction);
  const [, , signer] = random.pick(ODD_SIGNERS);
  const isOdd = random.once(2);
  const sig = isOdd ? signer.sign(message) : attestor.signTransaction(message);
  const authorizer = isOdd ? signer.publicKey : random.once(12) ? random.bytes(32) : undefined;
  const pq = struct({ pk: bin(new Uint8Array(1793)), sch: bin(utf8("f1")), sig: bin(Uint8Array.of(0xba, 0, 1)) });
  const members: Record<string, Pack | undefined> = {
    sig: bin(random.once(12) ? alterBytes(random, sig) : sig),
    sgnr: authorizer && bin(authorizer),
    txn: struct({ fee: uint(1000), type: str("pay") }),
  };
  if (random.once(12)) members[random.pick(["msig", "lsig", "pqsig"])] = pq;
  if (random.once(20)) delete members.sig;
  const named = random.once(12) ? random.bytes(32) : authorizer;
  const authorisation: Item = { alg: "ed25519", ...(named && { authorizer: encodeAddress(named) }) };
  return { stib: maybe(random, struct(members), 8), authorisation };
}

/** A header over a transaction, and the members of an item that shows it. */
function underHeader(random: Random, transaction: Uint8Array, stib: Uint8Array, round: number, time: number) {
  const leaf = payLeaf("sha256", transaction, stib);
  const way = merkleWay(random, "sha256", true, leaf);
  const isVersioned = random.once(3);
  const commit = random.pick(VERSIONS);
  const seed = random.once(3) ? undefined : bin(random.bytes(random.once(12) ? 31 : 32));
  const header = maybe(
    random,
    struct({
      gh: bin(random.once(20) ? random.bytes(32) : GENESIS),
      rnd: uint(round),
      ts: uint(random.once(15) ? random.pick([0, 2 ** 43 - 1, 2 ** 43, 2 ** 53, 2n ** 64n - 1n]) : time),
      txn256: bin(way.root),
      ...(isVersioned && { proto: str(`https://github.com/algorandfoundation/specs/tree/${commit}`), seed }),
      ...(random.once(20) && { txns: { items: [] } }),
    }),
    10,
  );
  const { index, siblings } = way;
  const members: Item = {
    headerBase64: toBase64(header),
    index,
    stibBase64: toBase64(stib),
    siblings: siblings.map(toBase64),
  };
  return { header, members };
}

/** The transaction that is attested, in a block before its attestation. */
function sourceOf(random: Random, before: number) {
  const fields = {
    fee: uint(1000),
    fv: uint(1),
    gh: bin(GENESIS),
    lv: uint(2),
    rcv: bin(account),
    snd: bin(account),
    type: str("pay"),
  };
  const transaction = pack(struct(fields));
  const stib = random.once(6) ? random.bytes(1 + random.below(40)) : pack(struct({ sig: bin(random.bytes(64)) }));
  const [round, time] = [Math.max(1, before - random.below(900)), 1_780_000_000 - random.below(1000)];
  return { transaction, round, time, ...underHeader(random, transaction, stib, round, time) };
}

/** What names a state proof over a header: the way from it to the commitment of a message that follows its checkpoint. */
function stakeOf(random: Random, header: Uint8Array, round: number): Item {
  const depth = random.pick([0, 0, 1, 4, 8]);
  const interval = 2 ** depth;
  const last = Math.ceil(round / interval) * interval;
  const first = last - interval + 1;
  const index = round - first;
  const bits = [...index.toString(2).padStart(depth, "0")].slice(0, depth);
  const siblings = Array.from({ length: depth }, () => random.bytes(32));
  const root = siblings.reduce(
    (node, sibling, level) => sha("sha256", utf8("MA"), ...(bits[level] === "1" ? [sibling, node] : [node, sibling])),
    leafOf(random, header),
  );
  const commitment = () => toBase64(random.bytes(64));
  const message: Item = {
    blockHeadersCommitment: toBase64(root),
    votersCommitment: commitment(),
    lnProvenWeight: 1 + random.below(2 ** 22),
    firstAttestedRound: first,
    lastAttestedRound: last,
  };
  const checkpoint: Item = {
    genesisHash: ALGORAND_MAINNET_GENESIS_HASH,
    round: random.once(12) ? Math.max(0, first - 2) : first - 1,
    votersCommitment: commitment(),
    lnProvenWeight: 1 + random.below(2 ** 22),
  };
  const proof = random.bytes(20);
  const held = random.once(8) ? { stateProofBase64: toBase64(proof) } : {};
  return {
    siblings: siblings.map(toBase64),
    message,
    checkpoint,
    stateProofSha256: createHash("sha256").update(proof).digest("hex"),
    ...held,
  };
}

/** The leaf of a light header, by the rule of its version, and now and then by the other. */
function leafOf(random: Random, header: Uint8Array): Uint8Array {
  const of = (name: string) => {
    try {
      return getMember(unpack(header), name);
    } catch {
      return undefined;
    }
  };
  const isOlder = Buffer.from(header).includes("abd3d4823c6f77349fc04c3af7b1e99fe4df699f") !== random.once(20);
  const first: [string, Uint8Array | undefined] = isOlder
    ? ["0", of("seed")]
    : ["1", bin(sha("sha512-256", utf8("BH"), header))];
  const members: [string, Uint8Array | undefined][] = [first, ["gh", of("gh")], ["r", of("rnd")], ["tc", of("txn256")]];
  return lightLeaf(members.filter((member): member is [string, Uint8Array] => member[1] !== undefined));
}

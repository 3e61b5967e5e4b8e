import { readFileSync } from "node:fs";
import type { BlockBundle, ProofBundle } from "@attestd/proof";
import {
  ALGORAND_MAINNET_GENESIS_HASH,
  algorandCaip2,
  blockHash,
  decodeAddress,
  decodeMsgpackMap,
  encodeAddress,
  encodeMsgpack,
  headerDigest,
  lightHeaderLeaf,
  proveLeaf,
  structMap,
  transactionLeaf,
  treeRoot,
  txid,
} from "@attestd/proof/algorand";
import { concatBytes, fromBase64, toBase64, toHex, utf8 } from "@attestd/proof/encoding";
import type {
  AlgorandAuthorisationItem,
  AlgorandInclusionItem,
  AlgorandSourceInclusionItem,
  AlgorandSourceStateProofItem,
  AlgorandStateProofItem,
  Evidence,
} from "@attestd/proof/evidence";
import { falconAccount } from "@attestd/proof/falcon";
import { canonicalBytes } from "@attestd/proof/json";
import { type Checkpoint, type StateProofMessage, stateProofMessageHash } from "@attestd/proof/state-proof";
import { sha256 } from "@noble/hashes/sha2.js";
import { falcon1024 } from "@noble/post-quantum/falcon.js";
import { constantLength } from "../../packages/proof/src/algorand/state-proof/falcon.ts";
import { sumhash512 } from "../../packages/proof/src/algorand/state-proof/sumhash.ts";
import { uint64 } from "../../packages/proof/src/algorand/state-proof/weights.ts";
import { signBundle, testAttestor, testBlockBundle, testBundle } from "./bundles.ts";

/*
 * A bundle with evidence of a network whose only participant is made here. That its state proof is one, Algorand's own Falcon
 * and sumhash say, in docs/verify/go.
 */

const INTERVAL = 16;
const ROUND = 1000;
/** In which the source stands. */
const SOURCE_ROUND = 995;
const FIRST = 993;
const WEIGHT = 2_000_000_000_000_000n;
/** ln of 30 % of the weight. */
const LN_PROVEN_WEIGHT = Math.ceil(65_536 * Math.log(600_000_000_000_000));
/** As many coins as that weight needs. */
const COINS = 148;
const SCHEME = Uint8Array.of(0, 0);
const SALT = 3;

export type TestEvidence = {
  /** Of a transaction in the same interval of rounds as the attestation. */
  bundle: ProofBundle;
  /** Of its block. */
  block: BlockBundle;
  evidence: Evidence;
  /** Its items. */
  inclusion: AlgorandInclusionItem;
  stateProof: AlgorandStateProofItem;
  authorisation: AlgorandAuthorisationItem;
  sourceInclusion: AlgorandSourceInclusionItem;
  /** Without the state proof, which is that of `stateProof`. */
  sourceStateProof: AlgorandSourceStateProofItem;
  checkpoint: Checkpoint;
  /** The blocks of the attestation and of its source as a node gives them, `{block, cert}` in msgpack. */
  blocks: { record: Uint8Array; source: Uint8Array };
};

const file = JSON.parse(readFileSync(new URL("falcon-key.json", import.meta.url), "utf8"));
const key = { publicKey: fromBase64(file.publicKey), secretKey: fromBase64(file.secretKey) };

/** A key of Ed25519 to which an account was rekeyed, and what it signs. */
export type TestSigner = { publicKey: Uint8Array; sign: (message: Uint8Array) => Uint8Array };

/** What is unusual of a network. */
type Oddities = {
  /** More members of every header. */
  header?: Readonly<Record<string, MsgpackMember>>;
  /** The leaf of a light header, 32 bytes. */
  lightLeaf?: (header: Uint8Array) => Uint8Array;
  /** A member more of `pqsig`. */
  pqMember?: readonly [key: string | number, value: MsgpackMember];
};
type MsgpackMember = string | number | Uint8Array | MsgpackMember[];

/**
 * @param genesisHash of the ledger, base64
 * @param committed the key to which the participant has committed; another than signs makes a forgery
 * @param signedBy the key of the account; one of Falcon-1024, the participant's, to which the account was rekeyed, or of
 *   Ed25519; or nobody's
 */
export function testEvidence(
  genesisHash: string = ALGORAND_MAINNET_GENESIS_HASH,
  committed: Uint8Array = key.publicKey,
  signedBy: "account" | "rekeyed" | "nobody" | TestSigner = "account",
  { header: more = {}, lightLeaf = ownLightLeaf, pqMember }: Oddities = {},
): TestEvidence {
  const gh = fromBase64(genesisHash);
  const attestor = testAttestor();
  const ledger = algorandCaip2(gh);
  const source = sourceIn(gh, more);
  const { hash: b, time: u } = source;
  const unsigned = testBundle({
    ...{ attestor, ledger, round: ROUND, txnBytes: source.transaction },
    statement: { b, n: SOURCE_ROUND, u },
  });
  const account = decodeAddress(attestor.algorandAddress);
  const fields = {
    fee: 1000,
    fv: 990,
    lv: 1990,
    note: utf8(unsigned.attest.note),
    rcv: account,
    snd: account,
    type: "pay",
  };
  const transaction = encodeMsgpack(structMap({ ...fields, gh }));
  const bundle = signBundle(attestor, { ...unsigned, attest: { ...unsigned.attest, txnId: txid(transaction) } });

  const message = concatBytes(utf8("TX"), transaction);
  const pq = () => {
    const members = structMap({ sch: utf8("f1"), slt: SALT, pk: key.publicKey, sig: deterministic(message) });
    return pqMember ? new Map([...members, pqMember]) : members;
  };
  const other = { sig: new Uint8Array(64).fill(7) };
  const authorizer =
    signedBy === "rekeyed"
      ? falconAccount(SALT, key.publicKey)
      : typeof signedBy === "object"
        ? signedBy.publicKey
        : undefined;
  const signature = () => {
    if (signedBy === "rekeyed") return { pqsig: pq() };
    if (typeof signedBy === "object") return { sig: signedBy.sign(message) };
    return signedBy === "account" ? { sig: attestor.signTransaction(message) } : other;
  };
  const signed = { ...signature(), ...(authorizer && { sgnr: authorizer }) };
  const stibs = ["before", "", "after"].map((note) =>
    encodeMsgpack(
      structMap(
        note ? { ...other, txn: structMap({ ...fields, note: utf8(note) }) } : { ...signed, txn: structMap(fields) },
      ),
    ),
  );
  const leaves = ["before", "", "after"].map((note, index) => {
    const bytes = note ? encodeMsgpack(structMap({ ...fields, note: utf8(note), gh })) : transaction;
    return transactionLeaf("txn256", bytes, stibs[index] as Uint8Array);
  });
  const headers = Array.from({ length: INTERVAL }, (_, index) =>
    FIRST + index === SOURCE_ROUND ? source.header : headerOf(gh, FIRST + index, leaves, more),
  );
  const header = headers[ROUND - FIRST] as Uint8Array;
  const light = headers.map(lightLeaf);
  const inclusion: AlgorandInclusionItem = {
    type: "algorand-inclusion/1",
    txnBytesBase64: toBase64(transaction),
    headerBase64: toBase64(header),
    index: 1,
    stibBase64: toBase64(stibs[1] as Uint8Array),
    siblings: proveLeaf("txn256", leaves, 1).map(toBase64),
  };

  const keys = sumhash512(concatBytes(utf8("KP"), SCHEME, uint64(BigInt(FIRST + 15)), committed));
  const lifetime = BigInt(INTERVAL);
  const voters = sumhash512(concatBytes(utf8("spp"), uint64(WEIGHT), uint64(lifetime), keys));
  const votersCommitment = toBase64(voters);
  const attested: StateProofMessage = {
    blockHeadersCommitment: toBase64(treeRoot("txn256", light)),
    votersCommitment,
    lnProvenWeight: LN_PROVEN_WEIGHT,
    firstAttestedRound: FIRST,
    lastAttestedRound: FIRST + INTERVAL - 1,
  };
  const checkpoint = { genesisHash, round: FIRST - 1, votersCommitment, lnProvenWeight: LN_PROVEN_WEIGHT };
  const proof = proofBy(keys, attested);
  const stateProof: AlgorandStateProofItem = {
    type: "algorand-state-proof/1",
    siblings: proveLeaf("txn256", light, ROUND - FIRST).map(toBase64),
    message: attested,
    stateProofSha256: toHex(sha256(proof)),
    stateProofBase64: toBase64(proof),
    checkpoint,
  };
  const { stateProofBase64: _, ...named } = stateProof;
  const sourceStateProof: AlgorandSourceStateProofItem = {
    ...named,
    type: "algorand-source-state-proof/1",
    siblings: proveLeaf("txn256", light, SOURCE_ROUND - FIRST).map(toBase64),
  };
  const authorisation: AlgorandAuthorisationItem = {
    type: "algorand-authorisation/1",
    alg: signedBy === "rekeyed" ? "falcon-1024" : "ed25519",
    ...(authorizer && { authorizer: encodeAddress(authorizer) }),
  };
  const evidence: Evidence = {
    format: "attestd.evidence/1",
    bundle: `sha256:${toHex(sha256(canonicalBytes(bundle)))}`,
    items: [inclusion, stateProof, authorisation, source.inclusion, sourceStateProof],
  };
  const prove = () => {
    throw new Error("the block is attested by its header alone");
  };
  const block = testBlockBundle({
    ...{ attestor, ledger, round: ROUND },
    block: { chain: "algorand", header: source.header, transactions: [], prove },
  });
  const sourceInclusion = source.inclusion;
  const items = { inclusion, stateProof, authorisation, sourceInclusion, sourceStateProof };
  const blocks = { record: answerOf(header, stibs), source: answerOf(source.header, source.stibs) };
  return { bundle, block, evidence, ...items, checkpoint, blocks };
}

function ownLightLeaf(header: Uint8Array): Uint8Array {
  return lightHeaderLeaf(decodeMsgpackMap(header), headerDigest(header));
}

/** A transaction in a block of another, with what shows it. */
function sourceIn(gh: Uint8Array, more: Readonly<Record<string, MsgpackMember>>) {
  const fields = (amt: number) => ({ amt, fee: 1000, fv: 990, lv: 1990, rcv: gh, snd: gh, type: "pay" });
  const amounts = [1, 2];
  const stibs = amounts.map((amt) =>
    encodeMsgpack(structMap({ sig: new Uint8Array(64).fill(amt), txn: structMap(fields(amt)) })),
  );
  const transactions = amounts.map((amt) => encodeMsgpack(structMap({ ...fields(amt), gh })));
  const leaves = stibs.map((stib, index) => transactionLeaf("txn256", transactions[index] as Uint8Array, stib));
  const header = headerOf(gh, SOURCE_ROUND, leaves, more);
  const inclusion: AlgorandSourceInclusionItem = {
    type: "algorand-source-inclusion/1",
    headerBase64: toBase64(header),
    index: 1,
    stibBase64: toBase64(stibs[1] as Uint8Array),
    siblings: proveLeaf("txn256", leaves, 1).map(toBase64),
  };
  const transaction = transactions[1] as Uint8Array;
  return { transaction, header, stibs, hash: blockHash(header), time: timeOf(SOURCE_ROUND), inclusion };
}

function answerOf(header: Uint8Array, stibs: Uint8Array[]): Uint8Array {
  return encodeMsgpack(structMap({ block: decodeMsgpackMap(header).set("txns", stibs.map(decodeMsgpackMap)) }));
}

function headerOf(
  gh: Uint8Array,
  rnd: number,
  leaves: Uint8Array[],
  more: Readonly<Record<string, MsgpackMember>>,
): Uint8Array {
  return encodeMsgpack(structMap({ gh, rnd, ts: timeOf(rnd), txn256: treeRoot("txn256", leaves), ...more }));
}

function timeOf(round: number): number {
  return 1_780_000_000 + 3 * (round - FIRST);
}

/** A state proof by one participant, who holds all weight, so that every coin falls on it. */
function proofBy(cmt: Uint8Array, message: StateProofMessage) {
  const { publicKey } = key;
  const sig = deterministic(stateProofMessageHash(message));
  const hsh = structMap({ t: 1 });
  const constant = constantLength(sig) as Uint8Array;
  const path = new Uint8Array(1 + 16 * 64);
  const leaf = concatBytes(utf8("sps"), uint64(0n), SCHEME, constant, publicKey, uint64(0n), path);
  const slot = structMap({ sig, prf: structMap({ hsh }), vkey: structMap({ k: publicKey }) });
  const participant = structMap({ p: structMap({ cmt, lf: INTERVAL }), w: WEIGHT });
  const reveal = structMap({ s: structMap({ s: slot }), p: participant });
  return encodeMsgpack(
    structMap({
      c: sumhash512(leaf),
      w: WEIGHT,
      S: structMap({ hsh }),
      P: structMap({ hsh }),
      r: new Map([[0, reveal]]),
      pr: Array(COINS).fill(0),
    }),
  );
}

/** Deterministic Falcon-1024, whatever the sampler's seed. */
function deterministic(message: Uint8Array): Uint8Array<ArrayBuffer> {
  const salt = concatBytes(Uint8Array.of(0, 10), utf8("FALCON_DET"), new Uint8Array(28));
  const random = (length = 0) => (length === salt.length ? salt.slice() : new Uint8Array(length).fill(5));
  const salted = falcon1024.sign(message, key.secretKey, { random } as object);
  return concatBytes(Uint8Array.of(0xba, 0), salted.subarray(1 + salt.length));
}

import { sha256 } from "@noble/hashes/sha2.js";
import { ml_dsa65 } from "@noble/post-quantum/ml-dsa.js";
import { encodeMsgpack, structMap } from "./algorand/msgpack.ts";
import { encodeAddress, txid } from "./algorand/transaction.ts";
import { type ProofBundle, signingBytes } from "./bundle.ts";
import { ALGORAND_MAINNET, ALGORAND_MAINNET_GENESIS_HASH } from "./caip2.ts";
import { CHAINS } from "./chains.ts";
import { fromBase64, toBase64, toHex, utf8 } from "./encoding.ts";
import { encodeNote, type Level, paymentCommitment } from "./note.ts";
import { nobleCrypto } from "./signature.ts";
import { type KeyEntry, type KeyHistory, keyEntryBytes, keyIdentity } from "./trust.ts";

/**
 * Real signed bundles from a seed, for tests of this package and of those that take bundles. Not part of the root entry:
 * nothing that ships signs.
 */
export type TestAttestor = {
  publicKey: Uint8Array;
  kid: string;
  keySha256: string;
  algorandAddress: string;
  /** ML-DSA-65, deterministic, so that a test's bundles are the same in every run. */
  sign(message: Uint8Array): Uint8Array;
};

/** An attestor whose keys all derive from one name. */
export function testAttestor(name = "attestor"): TestAttestor {
  const { publicKey, secretKey } = ml_dsa65.keygen(sha256(utf8(`pq ${name}`)));
  return {
    publicKey,
    ...keyIdentity(publicKey),
    algorandAddress: encodeAddress(sha256(utf8(`account ${name}`))),
    sign: (message) => ml_dsa65.sign(message, secretKey, { extraEntropy: false }),
  };
}

export type TestSource = { txnBytes: Uint8Array; level?: Level; chain?: "algorand" | "base" };

export type TestBundleOptions = {
  attestor?: TestAttestor;
  source?: TestSource;
  /** CAIP-2. */
  ledger?: string;
  round?: number;
  paymentKey?: string;
};

/** A valid bundle: of a small payment on MainNet, unless another source is given. */
export function testBundle(options: TestBundleOptions = {}): ProofBundle {
  const {
    attestor = testAttestor(),
    source = { txnBytes: testPayment() },
    ledger = ALGORAND_MAINNET,
    round = 1000,
    paymentKey = "algorand:test/payment",
  } = options;
  const chain = source.chain ?? "algorand";
  const txnId = CHAINS[chain].transactionId(source.txnBytes, nobleCrypto);
  const hashSha256 = toHex(sha256(source.txnBytes));
  const note = encodeNote({
    a: attestor.keySha256,
    c: CHAINS[chain].transactionChain(source.txnBytes, ledger),
    g: ledger,
    h: hashSha256,
    l: source.level ?? "finalized",
    p: paymentCommitment(paymentKey),
    t: txnId,
  });
  return signBundle(attestor, {
    version: 1,
    network: "algorand-mainnet",
    source: { chain, txnId, hashSha256, txnBytesBase64: toBase64(source.txnBytes) },
    attest: { txnId: txid(utf8(note)), round, note },
    attestor: { algorandAddress: attestor.algorandAddress, pqPublicKey: toBase64(attestor.publicKey) },
  });
}

/** The bundle with this attestor's signature, whatever it says and whatever signature it had. */
export function signBundle(attestor: TestAttestor, bundle: Omit<ProofBundle, "signature">): ProofBundle {
  const sigBase64 = toBase64(attestor.sign(signingBytes(bundle)));
  return { ...bundle, signature: { alg: "ML-DSA-65", sigBase64 } };
}

/** Canonical msgpack of a payment on MainNet. */
export function testPayment(note = "hello"): Uint8Array {
  return encodeMsgpack(
    structMap({
      amt: 1_000_000,
      fee: 1000,
      fv: 100,
      gen: "mainnet-v1.0",
      gh: fromBase64(ALGORAND_MAINNET_GENESIS_HASH),
      lv: 200,
      note: utf8(note),
      rcv: sha256(utf8("receiver")),
      snd: sha256(utf8("sender")),
      type: "pay",
    }),
  );
}

/**
 * A key history in which each attestor succeeds the one before.
 * @param successions attestors with their first rounds, oldest first
 */
export function testHistory(
  successions: { attestor: TestAttestor; fromRound: number; revokedRound?: number }[] = [
    { attestor: testAttestor(), fromRound: 1 },
  ],
  ledger = ALGORAND_MAINNET,
): KeyHistory {
  const keys = successions.map(({ attestor, fromRound, revokedRound }, index): KeyEntry => {
    const { kid, keySha256, algorandAddress } = attestor;
    const origin = "https://attestd.example";
    const pqPublicKey = toBase64(attestor.publicKey);
    const previous = successions[index - 1];
    const next = successions[index + 1];
    const entry = {
      type: "attestor-key",
      version: 1,
      kid,
      keySha256,
      pqPublicKey,
      algorandAddress,
      origin,
      fromRound,
    } as const;
    return {
      ...entry,
      ...(next && { untilRound: next.fromRound }),
      ...(revokedRound !== undefined && { revokedRound }),
      ...(previous && { endorsement: toBase64(previous.attestor.sign(keyEntryBytes(entry))) }),
    };
  });
  return { version: 1, ledger, keys };
}

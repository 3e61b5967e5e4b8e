import { createPrivateKey, createPublicKey, hash, sign as signBytes } from "node:crypto";
import {
  ALGORAND_MAINNET,
  type BlockBundle,
  type BundleBlock,
  type BundleSource,
  type ChainFormat,
  chainNamed,
  type InclusionBundle,
  type KeyEntry,
  type KeyHistory,
  type KeyNote,
  type Level,
  type Note,
  nobleCrypto,
  type PaymentReceipt,
  type ProofBundle,
  type SignedBundle,
} from "@attestd/proof";
import { encodeAddress, txid } from "@attestd/proof/algorand";
import {
  encodeNote,
  keyEntryBytes,
  keyIdentity,
  paymentCommitment,
  signingBytes,
  type UnsignedBundle,
} from "@attestd/proof/attestor";
import { toBase64, toBase64Url, toHex, utf8 } from "@attestd/proof/encoding";
import { sha256 } from "@noble/hashes/sha2.js";
import { type TestBlock, testAlgorandBlock, testPayment } from "./blocks.ts";

export {
  type TestBlock,
  testAlgorandBlock,
  testBaseBlock,
  testBaseTransaction,
  testLightHeader,
  testPayment,
} from "./blocks.ts";

/**
 * Real signed bundles from a name, for tests of this package and of those that take bundles. Not part of the root entry:
 * nothing that ships signs.
 */
export type TestAttestor = {
  /** 32 bytes, from which a service can have the same key. */
  pqSeed: Uint8Array;
  publicKey: Uint8Array;
  kid: string;
  keySha256: string;
  algorandAddress: string;
  /** By the account's key: 64 bytes of ed25519. */
  signTransaction(message: Uint8Array): Uint8Array;
  /** ML-DSA-65 by node:crypto. Hedged, thus other bytes in every run; the same for a message that was signed before. */
  sign(message: Uint8Array): Uint8Array;
};

/** By name: a key takes longer to make than most tests take. */
const attestors = new Map<string, TestAttestor>();

/** An attestor whose keys all derive from one name. */
export function testAttestor(name = "attestor"): TestAttestor {
  const known = attestors.get(name) ?? makeAttestor(name);
  attestors.set(name, known);
  return known;
}

function makeAttestor(name: string): TestAttestor {
  /** By message: the same bundles are made again and again. */
  const signatures = new Map<string, Uint8Array>();
  const pqSeed = Buffer.from(sha256(utf8(`pq ${name}`)));
  const pqKey = createPrivateKey({ key: pqSeed, format: "raw-seed", asymmetricKeyType: "ml-dsa-65" });
  const publicKey = new Uint8Array(createPublicKey(pqKey).export({ format: "raw-public" }));
  const seed = Buffer.from(sha256(utf8(`account ${name}`)));
  const account = createPrivateKey({ key: seed, format: "raw-private", asymmetricKeyType: "ed25519" });
  return {
    pqSeed,
    publicKey,
    ...keyIdentity(publicKey),
    algorandAddress: encodeAddress(createPublicKey(account).export({ format: "raw-public" })),
    signTransaction: (message) => new Uint8Array(signBytes(null, message, account)),
    sign(message) {
      const id = hash("sha256", message);
      const signature = signatures.get(id) ?? new Uint8Array(signBytes(null, message, pqKey));
      signatures.set(id, signature);
      return signature;
    },
  };
}

export type TestBundleOptions = {
  attestor?: TestAttestor;
  /** CAIP-2. */
  ledger?: string;
  round?: number;
  level?: Level;
  paymentKey?: string;
  /** The known source chains; by default those of the registry. */
  chains?: readonly ChainFormat[];
};

/** What a note states of its transaction: the members of that name. */
export type TestStatement = { b: string; n: number; s?: 0 | 1; u: number };

/** The block in which test transactions stand, and, where one can fail, that they succeeded. */
export const TEST_STATEMENTS: Readonly<Record<string, TestStatement>> = {
  algorand: { b: `${"BLOCK".repeat(10)}AA`, n: 46_580_000, u: 1_780_000_000 },
  base: { b: `0x${"b10c".repeat(16)}`, n: 46_000_000, s: 1, u: 1_780_000_000 },
};

/**
 * A valid ProofBundle: of a small payment on MainNet, unless other bytes are given.
 *
 * @param options.statement changes of `TEST_STATEMENTS`; all of it where that has not the chain
 */
export function testBundle(
  options: TestBundleOptions & { chain?: string; txnBytes?: Uint8Array; statement?: Partial<TestStatement> } = {},
): ProofBundle {
  const {
    attestor = testAttestor(),
    ledger = ALGORAND_MAINNET,
    chain = "algorand",
    txnBytes = testPayment(),
  } = options;
  const { source, caip2 } = testSource(formatOf(chain, options), txnBytes, ledger);
  const statement = { ...TEST_STATEMENTS[chain], ...options.statement } as TestStatement;
  const { txnId, hashSha256 } = source;
  return attest(
    attestor,
    options,
    { source },
    { c: caip2, h: hashSha256, l: levelOf(options), t: txnId, ...statement },
  );
}

/** A valid BlockBundle. */
export function testBlockBundle(options: TestBundleOptions & { block?: TestBlock<string> } = {}): BlockBundle {
  const { attestor = testAttestor(), ledger = ALGORAND_MAINNET, block: from = testAlgorandBlock(1) } = options;
  const { block, note } = testBlockMember(from, options, ledger);
  return attest(attestor, options, { type: "block-attestation", block }, note);
}

/** A valid InclusionBundle, of the block's transaction at `index`. */
export function testInclusionBundle(
  options: TestBundleOptions & { block?: TestBlock<string>; index?: number } = {},
): InclusionBundle {
  const { attestor = testAttestor(), ledger = ALGORAND_MAINNET, index = 0 } = options;
  const from = options.block ?? testAlgorandBlock(3);
  const { block, note } = testBlockMember(from, options, ledger);
  const { source } = testSource(formatOf(from.chain, options), from.transactions[index] as Uint8Array, ledger);
  return attest(attestor, options, { type: "tx-inclusion", block, source, inclusion: from.prove(index) }, note);
}

function levelOf({ level = "finalized" }: TestBundleOptions): Level {
  return level;
}

export function formatOf(chain: string, { chains }: TestBundleOptions): ChainFormat {
  return chainNamed(chain, chains) as ChainFormat;
}

export function testSource(format: ChainFormat, bytes: Uint8Array, ledger: string) {
  const { txnId, caip2 } = format.transaction(bytes, ledger, nobleCrypto);
  const hashSha256 = toHex(sha256(bytes));
  const source: BundleSource = { chain: format.name, txnId, hashSha256, txnBytesBase64: toBase64(bytes) };
  return { source, caip2 };
}

function testBlockMember({ chain, header }: TestBlock<string>, options: TestBundleOptions, ledger: string) {
  const format = formatOf(chain, options);
  const { blockHash, height, caip2 } = format.header(header, ledger, nobleCrypto);
  const hashSha256 = toHex(sha256(header));
  const block: BundleBlock = { chain, height, blockHash, headerBase64: toBase64(header), hashSha256 };
  return { block, note: { b: blockHash, c: caip2, h: hashSha256, l: levelOf(options), n: height } };
}

/** The members that differ between notes of one payment. */
type OfSubject<N> = N extends unknown ? Omit<N, "a" | "g" | "p"> : never;
type Attestation = "version" | "network" | "attest" | "attestor" | "signature";

/** What the attestor signs of these members, recorded by a note of this subject. */
export function attest<B extends SignedBundle>(
  attestor: TestAttestor,
  { ledger = ALGORAND_MAINNET, round = 1000, paymentKey = "test" }: TestBundleOptions,
  members: Omit<B, Attestation>,
  subject: OfSubject<Exclude<Note, KeyNote>>,
): B {
  const p = paymentCommitment(paymentKey);
  const note = encodeNote({ a: attestor.keySha256, g: ledger, p, ...subject });
  const unsigned: Omit<ProofBundle, "source" | "signature"> = {
    version: 1,
    network: "algorand-mainnet",
    attest: { txnId: txid(utf8(note)), round, note },
    attestor: { algorandAddress: attestor.algorandAddress, pqPublicKey: toBase64(attestor.publicKey) },
  };
  return signBundle(attestor, { ...members, ...unsigned }) as unknown as B;
}

/** The bundle with this attestor's signature instead of its own, whether or not it is true. */
export function signBundle<B extends object>(attestor: TestAttestor, bundle: B): B & Pick<SignedBundle, "signature"> {
  const sigBase64 = toBase64(attestor.sign(signingBytes(bundle as unknown as UnsignedBundle)));
  return { ...bundle, signature: { alg: "ML-DSA-65", sigBase64 } };
}

/** What a receipt of a payment states. */
export const TEST_RECEIPT: PaymentReceipt = {
  type: "x402-receipt",
  version: 1,
  network: "eip155:8453",
  resourceUrl: "https://attestd.example/attest",
  payer: "0x857b06519E91e3A54538791bDbb0E22373e36b66",
  transaction: `0x${"12".repeat(32)}`,
  issuedAt: 1_795_256_945,
};

/** The compact JWS (RFC 7515) of what a receipt states, whether or not it has the right form. */
export function testReceipt(
  attestor: TestAttestor,
  stated: object = TEST_RECEIPT,
  header: object = { alg: "ML-DSA-65", kid: attestor.kid },
): string {
  const input = [header, stated].map((part) => toBase64Url(utf8(JSON.stringify(part)))).join(".");
  return `${input}.${toBase64Url(attestor.sign(utf8(input)))}`;
}

/** The attestor with another key. */
export function testSuccessor(attestor: TestAttestor, name: string): TestAttestor {
  return { ...testAttestor(name), algorandAddress: attestor.algorandAddress };
}

/**
 * A key history in which each attestor succeeds the one before, all with the account of the first.
 * @param successions attestors with their first rounds, oldest first
 */
export function testHistory(
  successions: { attestor: TestAttestor; fromRound: number; revokedRound?: number }[] = [
    { attestor: testAttestor(), fromRound: 1 },
  ],
  ledger = ALGORAND_MAINNET,
): KeyHistory {
  const keys = successions.map(({ attestor, fromRound, revokedRound }, index): KeyEntry => {
    const previous = successions[index - 1];
    const next = successions[index + 1];
    const entry = {
      type: "attestor-key",
      version: 1,
      kid: attestor.kid,
      keySha256: attestor.keySha256,
      pqPublicKey: toBase64(attestor.publicKey),
      algorandAddress: (successions[0] ?? { attestor }).attestor.algorandAddress,
      origin: "https://attestd.example",
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

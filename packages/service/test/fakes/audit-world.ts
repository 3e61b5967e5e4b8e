import { createHash } from "node:crypto";
import type { KeyHistory } from "@attestd/proof";
import { algorandCaip2, encodeAddress, encodeMsgpack, txid } from "@attestd/proof/algorand";
import { encodeNote, keyIdentity, paymentCommitment } from "@attestd/proof/attestor";
import { toBase32 } from "@attestd/proof/encoding";
import { createAttestor } from "../../src/attestor/attestor.ts";
import type { Facts, Premises } from "../../src/audit/facts.ts";
import { type Call, type CallState, evidenceOf } from "../../src/calls/call.ts";
import { type CallEvent, isAtRest, reduce } from "../../src/calls/machine.ts";
import { pruned } from "../../src/calls/pruning.ts";
import type { LedgerNote } from "../../src/ledger/search.ts";
import { nativeCrypto } from "../../src/lib/crypto/crypto.ts";
import type { ChainPayment } from "../../src/payment/rails/payment-reader.ts";
import type { RailName } from "../../src/payment/rails/rail.ts";
import { createProducts } from "../../src/subjects/products.ts";
import { requestHash, type Subject } from "../../src/subjects/subject.ts";
import { seedSigner } from "../seed-signer.ts";
import { GENESIS, payment } from "./algorand-providers.ts";
import { aCall } from "./calls.ts";
import { chainOf } from "./source-chain.ts";

export const PRICE = 1000n;
const signer = seedSigner(new Uint8Array(32).fill(3));
const attestor = createAttestor(signer);
export const ATTESTOR = encodeAddress(new Uint8Array(32).fill(9));
export const STRANGER = encodeAddress(new Uint8Array(32).fill(8));
const LEDGER = algorandCaip2(GENESIS);
const products = createProducts(new Map());

export const history: KeyHistory = {
  version: 1,
  ledger: LEDGER,
  keys: [
    {
      type: "attestor-key",
      version: 1,
      ...keyIdentity(signer.publicKey),
      pqPublicKey: signer.pqPublicKey,
      algorandAddress: ATTESTOR,
      origin: "https://attestd.example",
      fromRound: 0,
    },
  ],
};

export const premises: Premises = {
  attestors: new Set([ATTESTOR]),
  history,
  crypto: nativeCrypto,
  prices: [PRICE],
  products,
  // Its rows hold all that calls have.
  apart: { evidenceOf: async () => undefined, partsOf: async () => [] },
  refused: async () => undefined,
  now: 0,
};

/** The states that a call may rest or wait in, with the events that lead there. */
export const STATES: readonly CallState[] = [
  "settling",
  "paid",
  "signed",
  "confirmed",
  "done",
  "owed",
  "void",
  "refunded",
  "loss",
];

/** Chains and a journal that a test makes up, consistent until it plants something. */
export class AuditWorld {
  payments: ChainPayment[] = [];
  notes: LedgerNote[] = [];
  rows: Call[] = [];
  #made = 0;

  /**
   * A call that came to a state as calls do, with all that it has left on the chains.
   *
   * @param size how many transactions it is for: of more than one, a batch
   */
  async buy(state: CallState, rail: RailName = "algorand", size = 1): Promise<Call> {
    const n = ++this.#made;
    const { subject, evidence } = await sourcesOf(n, size);
    const transaction = `${rail}-payment-${n}`;
    let call = aCall({
      key: `${rail}:test/${transaction}`,
      rail,
      subject,
      subjectHash: requestHash(subject),
      requirement: { ...aCall().requirement, amount: PRICE.toString(), payTo: payeeOf(rail) },
      evidence,
      createdAt: -1000,
    });
    const height = 100 + n;
    const take = (event: CallEvent) => {
      call = reduce(call, event);
    };
    const prove = (final: boolean) =>
      take({ type: "payment_proved", proof: { transaction, height, final }, receipt: "receipt" });
    const txid = toBase32(createHash("sha256").update(`attestation ${n}`).digest());
    const signAndRecord = () => {
      take({ type: "attestation_signed", attempt: attemptOf(txid) });
      this.record(call, txid, height + 1);
      take({ type: "attestation_confirmed", txid, round: height + 1 });
    };

    if (state === "void") take({ type: "payment_void", reason: "expired", receipt: "failed" });
    if (!["settling", "void"].includes(state)) prove(state !== "loss");
    if (state === "signed") take({ type: "attestation_signed", attempt: attemptOf(txid) });
    if (state === "owed" || state === "refunded") take({ type: "attestation_blocked", reason: "overspend" });
    if (state === "refunded")
      call = reduce(call, { type: "payment_refunded", transaction: "REFUND", refund: `refund of ${n}` });
    if (state === "confirmed") signAndRecord();
    if (state === "done" || state === "loss") {
      signAndRecord();
      take({ type: "bundle_sealed", bundle: await seal(call), receipt: "signed receipt" });
    }
    if (state === "loss") take({ type: "payment_lost", reason: "a reorganisation" });
    if (call.proof && state !== "loss") this.pay(call);
    this.rows.push(call);
    return call;
  }

  /** Puts a call's payment on its chain. */
  pay({ key, rail, requirement, proof }: Call, over: Partial<ChainPayment> = {}): void {
    this.payments.push({
      rail,
      key,
      aliases: [],
      transaction: proof?.transaction ?? `${key}-transaction`,
      height: proof?.height ?? 100,
      payer: "PAYER",
      payTo: requirement.payTo,
      amount: BigInt(requirement.amount),
      relayed: true,
      ...over,
    });
  }

  /** Puts an attestation on the ledger, by default by the attestor and of the call. */
  record(call: Call, txid: string, round: number, over: Partial<LedgerNote> = {}): void {
    const recorded = this.notes.find((note) => note.txid === call.attempts.at(-1)?.txid);
    const note = over.note ?? recorded?.note ?? noteOf(call);
    this.notes.push({ txid, round, sender: ATTESTOR, movesNothing: true, ...over, note });
  }

  /** What strangers, and the operator, do on the chains beside our business. */
  noise(kind: number): void {
    const n = ++this.#made;
    const other = {
      rail: "base",
      transaction: `noise-${n}`,
      height: 100,
      payer: STRANGER,
      payTo: payeeOf("base"),
    } as const;
    const byStranger = { txid: `noise-${n}`, round: 100, sender: STRANGER, movesNothing: true };
    const copied = this.notes[0]?.note;
    const noises: (() => void)[] = [
      () => this.payments.push({ ...other, aliases: [], amount: PRICE, relayed: false }),
      () => this.payments.push({ ...other, aliases: [], relayed: false }),
      () => this.payments.push({ ...other, key: `base:noise/${n}`, aliases: [], amount: PRICE, relayed: false }),
      () => this.payments.push({ ...other, key: `base:noise/${n}`, aliases: [], amount: PRICE + 1n, relayed: true }),
      () => this.notes.push({ ...byStranger, note: copied ?? "attestd/v1:j{}" }),
      () => this.notes.push({ ...byStranger, note: "attestd/v2:j{}" }),
      () => this.notes.push({ ...byStranger, note: "gm" }),
      () => this.notes.push({ ...byStranger }),
      () => this.notes.push({ ...byStranger, sender: ATTESTOR, movesNothing: false }),
      () => this.notes.push({ ...byStranger, sender: ATTESTOR, note: encodeNote({ g: LEDGER, k: "0".repeat(64) }) }),
    ];
    noises[kind % noises.length]?.();
  }

  get facts(): Facts {
    const span = { from: 0, to: 1_000_000 };
    return {
      ledger: span,
      rails: { algorand: span, base: span, solana: span },
      payments: this.payments,
      notes: this.notes,
    };
  }

  row(key: string): Call {
    const call = this.rows.find((row) => row.key === key);
    if (!call) throw new Error(`no row ${key}`);
    return call;
  }

  /** Prunes every row that may be. */
  prune(): void {
    this.rows = this.rows.map((row) => (isAtRest(row) ? pruned(row) : row));
  }

  /** Replaces a row, as no service would. */
  forge(key: string, over: Partial<Call>): void {
    this.rows = this.rows.map((row) => (row.key === key ? { ...row, ...over } : row));
  }
}

export function attemptOf(txid: string) {
  return { txid, raw: new Uint8Array([1]), firstValid: 100, lastValid: 200 };
}

export function payeeOf(rail: RailName): string {
  return `PAYEE-${rail}`;
}

/** A note of the attestor that commits to that payment key and to an unknown source. */
export function noteFor(paymentKey: string): string {
  const h = "0".repeat(64);
  const p = paymentCommitment(paymentKey);
  const block = { b: "BLOCK", n: 7, u: 1_780_000_000 };
  return encodeNote({ a: signer.keySha256, c: LEDGER, g: LEDGER, h, l: "finalized", p, t: "SOURCE", ...block });
}

/** What is bought for payments that a made-up Algorand holds: one, or a batch of several. */
async function sourcesOf(n: number, size: number) {
  const block = { hash: `${"BLOCK".repeat(10)}AA`, height: n, time: 1_780_000_000 + n };
  const transactions = Array.from({ length: size }, (_, i) => {
    const bytes = encodeMsgpack(payment(`source ${n} ${i}`));
    return { chain: "algorand", caip2: LEDGER, txnId: txid(bytes), bytes, level: "finalized" as const, block };
  });
  const [first, ...others] = transactions.map(({ chain, txnId: id }) => ({ chain, id }));
  if (!first) throw new Error("something is bought");
  const subject: Subject =
    others.length > 0 ? { kind: "batch", items: [first, ...others] } : { kind: "transaction", ...first };
  const chains = new Map([["algorand", chainOf([], transactions)]]);
  const evidence = await createProducts(chains)[subject.kind].evidence(subject, new AbortController().signal);
  return { subject, evidence };
}

/** The bundle of a confirmed call, as it is delivered. */
export async function seal(call: Call) {
  const attempt = call.attempts.at(-1);
  if (!attempt || call.round === undefined) throw new Error("a confirmed call has an attempt and a round");
  const product = products[call.subject.kind];
  const evidence = evidenceOf(call);
  const signed = await attestor.seal(
    product.bundle(evidence, {
      attest: { txnId: attempt.txid, round: call.round, note: noteOf(call) },
      attestor: { algorandAddress: ATTESTOR, pqPublicKey: attestor.pqPublicKey },
    }),
    new AbortController().signal,
  );
  const items = (evidence.kind === "batch" && evidence.items) || [];
  return (await product.answer?.(evidence, signed, items))?.bundle ?? signed;
}

function noteOf(call: Call): string {
  const context = { keySha256: signer.keySha256, ledger: LEDGER, paymentKey: call.key };
  return premises.products[call.subject.kind].note(evidenceOf(call), context);
}

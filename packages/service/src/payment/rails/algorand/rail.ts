import { getBytes, getInteger, getString, type MsgpackMap } from "@attestd/proof/algorand/msgpack";
import { ALGORAND_MAINNET } from "@attestd/proof/algorand/network";
import { encodeAddress, txid } from "@attestd/proof/algorand/transaction";
import { equalBytes, fromBase64, toBase64Url } from "@attestd/proof/encoding";
import type { PaymentPayload, PaymentRequirements } from "@x402/core/types";
import type { Rounds, Window } from "../../../ledger/ledger.ts";
import type { Algod } from "../../../providers/algod.ts";
import { type AlgorandNodes, locate } from "../../../providers/algorand-nodes.ts";
import { agree, failover } from "../../../providers/quorum.ts";
import { type Payment, PaymentRefused, type PaymentStanding, type Rail } from "../rail.ts";
import { type Envelope, readEnvelope } from "./envelope.ts";
import { allowOnly, checkGroupId, type GroupMember, readGroup } from "./group.ts";
import { hasSigned } from "./landed.ts";
import { isSignedByAuthorizer } from "./signature.ts";

/** USDC on MainNet; the sandbox's has the same id. */
export const ALGORAND_USDC = "31566704";

/** MainNet's mean round, for a life given in seconds. */
const SECONDS_A_ROUND = 2.8;

/**
 * Rounds by which the payer's node may be ahead of ours: clients make a payment first valid in the newest round they know.
 * Accepting one that is not valid yet is safe: nobody can settle it before it is.
 */
const AHEAD_ROUNDS = 10;

/** Rounds that must be left when we settle: verify, settle and a slow block. The stock client gives ten. */
const MARGIN_ROUNDS = 3;

export type AlgorandPayment = Payment & {
  readonly rail: "algorand";
  readonly txid: string;
  readonly window: Window;
  readonly members: readonly GroupMember[];
  readonly index: number;
  /** How its payer has signed. */
  readonly signed: Envelope;
};

export type AlgorandRailOptions = {
  /** Base64 of the ledger's genesis hash. */
  genesisHash: string;
  nodes: AlgorandNodes;
  rounds: Rounds;
  /** How long an authorization may live. */
  maxLifeSeconds: number;
  /** microAlgos that the fee payer may be made to pay. */
  maxFee: number;
};

const PAYMENT_FIELDS = new Set("type snd fee fv lv gen gh grp lx note xaid aamt arcv".split(" "));
/** No lease: it would be the fee payer's, and keep its other payments under that lease out. */
const FEE_FIELDS = new Set("type snd rcv fee fv lv gen gh grp note".split(" "));
/** The stock client writes 28 bytes. A long note may cost a fee of its own. */
const MOST_FEE_NOTE_BYTES = 128;

/** The Algorand USDC rail: scheme `exact` of @x402/avm, an asset transfer with a fee payer beside it. */
export function algorandRail(options: AlgorandRailOptions): Rail<AlgorandPayment> {
  const { nodes, rounds } = options;
  const genesis = fromBase64(options.genesisHash);
  const spellings = new Set(["algorand-mainnet", ALGORAND_MAINNET, `algorand:${options.genesisHash}`]);

  /** Whether the signature is good now: of the address that may sign for the sender, and accepted by its program. */
  async function isAuthorized({ key, payer, signed, members }: AlgorandPayment, signal: AbortSignal): Promise<boolean> {
    const authorizer = async (algod: Algod, ends: AbortSignal) => (await algod.account(payer, ends)).authorizer;
    const about = `the signature of ${key}`;
    const [authorized] = await agree(nodes.algods, authorizer, { about, same: String, signal }, nodes.rules);
    if (authorized !== encodeAddress(signed.authorizer)) return false;
    if (signed.kind !== "lsig") return true;
    // The program is run as a part of the whole group, in which nobody but the fee payer may have signed nothing.
    const group = members.map(({ transaction, envelope }) => new Map(envelope).set("txn", transaction));
    const run = async (algod: Algod, ends: AbortSignal) => (await algod.simulate(group, ends)) === undefined;
    const [accepted] = await agree(nodes.algods, run, { about, same: String, signal }, nodes.rules);
    return accepted;
  }

  async function checkLayout(payment: AlgorandPayment): Promise<void> {
    const { members, index, asset, payer, payTo } = payment;
    allowOnly((members[index] as GroupMember).transaction, PAYMENT_FIELDS, "payment transaction");
    if (asset !== ALGORAND_USDC) throw new PaymentRefused(`the payment moves asset ${asset}, not ${ALGORAND_USDC}`);
    if (payer === payTo) throw new PaymentRefused("the payer is the payee");
    for (const member of feePayersOf(payment)) checkFeePayment(member, genesis);
    if (members.length - 1 !== index)
      throw new PaymentRefused("the payment transaction is not the last of payload.paymentGroup");
    checkGroupId(members);
  }

  return {
    name: "algorand",
    network: ALGORAND_MAINNET,
    asset: ALGORAND_USDC,
    extra: {},
    isNetwork: (network) => spellings.has(network),
    sameAddress: (a, b) => a === b,

    read(payload: PaymentPayload): AlgorandPayment {
      if (payload.x402Version !== 2) throw new PaymentRefused("x402Version is not 2");
      const { members, index } = readGroup(payload.payload);
      const { transaction, bytes, envelope } = members[index] as GroupMember;
      const fields = readTransfer(transaction);
      if (!envelope) throw new PaymentRefused("the payment transaction is not signed");
      if (!equalBytes(fields.genesisHash, genesis))
        throw new PaymentRefused("the payment names another ledger in gh than ours");
      const id = txid(bytes);
      const ledger = `algorand:${toBase64Url(genesis)}`;
      const { group } = fields;
      return {
        rail: "algorand",
        key: `${ledger}/${id}`,
        aliases: group ? [`${ledger}/group/${toBase64Url(group)}`] : [],
        payer: encodeAddress(fields.sender),
        payTo: fields.receiver,
        amount: fields.amount,
        asset: fields.asset,
        payload,
        wire: { paymentGroup: payload.payload.paymentGroup, paymentIndex: index },
        txid: id,
        window: fields.window,
        members,
        index,
        signed: readEnvelope(envelope, fields.sender),
      };
    },

    // Never `valid`: whether the sender is rekeyed, by its own old key too, only the ledger knows.
    async signature({ members, index, signed }) {
      const { bytes } = members[index] as GroupMember;
      return isSignedByAuthorizer(signed, bytes) ? "on_chain" : "invalid";
    },

    async onChain(payment, signal) {
      if (await isAuthorized(payment, signal)) return true;
      // It may have been, when the payment was made: what the ledger has taken from that signer was well signed.
      const landed = await locate(nodes, payment.txid, signal);
      return landed !== undefined && hasSigned(payment.signed, landed);
    },

    checkLayout,

    async check(payment, requirement) {
      await checkLayout(payment);
      checkTransfer(payment, requirement);
      for (const member of feePayersOf(payment)) checkFeePayer(member, requirement.extra.feePayer, options.maxFee);
      checkWindow(payment.window, rounds.latest(), options.maxLifeSeconds);
    },

    async balance({ payer }, signal) {
      const about = `the balance of ${payer}`;
      return failover(nodes.algods, (algod, ends) => algod.assetBalance(payer, ALGORAND_USDC, ends), { about, signal });
    },

    async payeeFault(payTo, signal) {
      const ask = async (algod: Algod, ends: AbortSignal) => {
        const holding = await algod.assetHolding(payTo, ALGORAND_USDC, ends);
        if (!holding) return `has not opted in to USDC (asset ${ALGORAND_USDC})`;
        return holding.isFrozen ? "has a USDC holding that is frozen" : undefined;
      };
      const question = { about: `the payee ${payTo}`, same: String, signal };
      const [fault] = await agree(nodes.algods, ask, question, nodes.rules);
      return fault;
    },

    async standing({ txid: id, window }, signal): Promise<PaymentStanding> {
      const standing = await rounds.standing(id, window, signal);
      if (standing.state === "confirmed")
        return { state: "paid", transaction: id, height: standing.round, final: true };
      if (standing.state === "dead") return { state: "void", reason: `expired unspent in round ${window.lastValid}` };
      return standing;
    },

    async spent({ txid: id }, signal) {
      return (await rounds.find(id, signal)) !== undefined;
    },

    async news(signal) {
      await rounds.next(signal);
    },
  };
}

function readTransfer(transaction: MsgpackMap) {
  try {
    if (getString(transaction, "type") !== "axfer") throw new PaymentRefused("the payment is not an asset transfer");
    const publicKey = (field: string) => getBytes(transaction, field, 32) ?? new Uint8Array(32);
    return {
      sender: publicKey("snd"),
      receiver: encodeAddress(publicKey("arcv")),
      group: getBytes(transaction, "grp", 32),
      amount: getInteger(transaction, "aamt"),
      asset: getInteger(transaction, "xaid").toString(),
      genesisHash: getBytes(transaction, "gh", 32) ?? new Uint8Array(),
      window: {
        firstValid: Number(getInteger(transaction, "fv")),
        lastValid: Number(getInteger(transaction, "lv")),
      },
    };
  } catch (error) {
    if (error instanceof PaymentRefused) throw error;
    throw new PaymentRefused("the payment transaction's fields are not of their types");
  }
}

function feePayersOf({ members, index }: AlgorandPayment): GroupMember[] {
  return members.filter((_, i) => i !== index);
}

/** A payment of nothing by the fee payer to itself, which lacks its signature still. */
function checkFeePayment({ transaction, envelope }: GroupMember, genesis: Uint8Array): void {
  if (envelope) throw new PaymentRefused("the fee payer's transaction is signed already");
  if (transaction.get("type") !== "pay")
    throw new PaymentRefused("the payment group has a second transaction which is not the fee payer's");
  allowOnly(transaction, FEE_FIELDS, "fee payer's transaction");
  const [sender, receiver, gh] = ["snd", "rcv", "gh"].map((field) => transaction.get(field));
  if (!(sender instanceof Uint8Array) || sender.length !== 32)
    throw new PaymentRefused("the fee payer's transaction has no sender");
  if (!(receiver instanceof Uint8Array) || !equalBytes(receiver, sender))
    throw new PaymentRefused("the fee payer's transaction does not pay the fee payer itself");
  if (!(gh instanceof Uint8Array) || !equalBytes(gh, genesis))
    throw new PaymentRefused("the fee payer's transaction names another ledger");
  const note = transaction.get("note");
  if (note !== undefined && !(note instanceof Uint8Array && note.length <= MOST_FEE_NOTE_BYTES))
    throw new PaymentRefused(`the fee payer's transaction has a note of more than ${MOST_FEE_NOTE_BYTES} bytes`);
}

function checkTransfer({ amount, payTo }: AlgorandPayment, requirement: PaymentRequirements): void {
  if (amount !== BigInt(requirement.amount))
    throw new PaymentRefused(`the payment moves ${amount}, not ${requirement.amount}`);
  if (payTo !== requirement.payTo) throw new PaymentRefused(`the payment goes to ${payTo}, not ${requirement.payTo}`);
}

/**
 * @param feePayer the offered one
 * @param maxFee microAlgos: the group's fee is pooled, and this transaction's is all of what the fee payer pays
 */
function checkFeePayer({ transaction }: GroupMember, feePayer: unknown, maxFee: number): void {
  if (encodeAddress(transaction.get("snd") as Uint8Array) !== feePayer)
    throw new PaymentRefused(`the fee payer is not the offered one, ${String(feePayer)}`);
  const fee = transaction.get("fee") ?? 0n;
  if ((typeof fee !== "bigint" && typeof fee !== "number") || fee > maxFee)
    throw new PaymentRefused(`the fee payer's fee is above ${maxFee} microAlgos`);
}

function checkWindow({ firstValid, lastValid }: Window, latest: number, maxLifeSeconds: number): void {
  if (firstValid > latest + AHEAD_ROUNDS)
    throw new PaymentRefused(`the payment is not valid before round ${firstValid}`);
  if (lastValid < latest + MARGIN_ROUNDS)
    throw new PaymentRefused(`the payment expires in round ${lastValid}, too soon after round ${latest}`);
  if (lastValid - latest > Math.ceil(maxLifeSeconds / SECONDS_A_ROUND))
    throw new PaymentRefused(`the payment stays valid for more than ${maxLifeSeconds} s`);
}

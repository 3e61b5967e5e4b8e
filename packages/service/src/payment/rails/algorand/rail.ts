import { encodeAddress, isAlgorandAddress } from "@attestd/proof/algorand";
import { fromBase64 } from "@attestd/proof/encoding";
import type { Rounds } from "../../../ledger/ledger.ts";
import type { Algod } from "../../../providers/algod.ts";
import {
  type AlgorandNodes,
  agreedParams,
  type FactsOf,
  type Location,
  locate,
} from "../../../providers/algorand-nodes.ts";
import { unavailable } from "../../../providers/provider.ts";
import { agreeOnQuantity } from "../../../providers/quantity.ts";
import { agree, failover } from "../../../providers/quorum.ts";
import type { PaymentStatus, Rail } from "../rail.ts";
import { checkFeePayer, checkLayout, checkTransfer, checkWindow } from "./checks.ts";
import type { GroupMember } from "./group.ts";
import { hasSigned, signerFact } from "./landed.ts";
import { type AlgorandPayment, readPayment } from "./payment.ts";
import { isSignedByAuthorizer } from "./signature.ts";
import { ALGORAND, algorandSpellings } from "./usdc.ts";

export type AlgorandRailOptions = {
  /** Base64 of the ledger's genesis hash. */
  genesisHash: string;
  nodes: AlgorandNodes;
  rounds: Rounds;
  /** How long a payment may stay valid, in seconds. */
  maxLifeSeconds: number;
  /** The most that a payment may cost its fee payer, in microAlgos. */
  maxFee: number;
};

/** How long a payment may wait for our nodes to reach its first round, in ms. */
const WAIT_MS = 5_000;
/** The limit of payments that wait at one time; further ones are judged by the known rounds. */
const MAX_WAITING = 100;

/** The Algorand USDC rail: scheme `exact` of @x402/avm, an asset transfer in a group with a fee payer's transaction. */
export function algorandRail(options: AlgorandRailOptions): Rail<AlgorandPayment> {
  const { genesisHash, nodes, rounds, maxLifeSeconds, maxFee } = options;
  const genesis = fromBase64(genesisHash);
  const spellings = algorandSpellings(genesisHash);

  const find = ({ txid: id, window }: AlgorandPayment, signal: AbortSignal, factsOf?: FactsOf) =>
    rounds.find(id, signal, window.firstValid, factsOf);

  let waiting = 0;

  /** Waits a while for a round: our nodes will soon know what the payer's node knows. */
  async function awaitRound(round: number, signal: AbortSignal): Promise<void> {
    if (rounds.latest() >= round || waiting >= MAX_WAITING) return;
    waiting += 1;
    const ends = AbortSignal.any([signal, AbortSignal.timeout(WAIT_MS)]);
    try {
      while (rounds.latest() < round) await rounds.next(ends);
    } catch (error) {
      if (!ends.aborted) throw error;
    } finally {
      waiting -= 1;
    }
  }

  /**
   * Returns the node's answer about an account. @throws ProviderError when it is from before the payment's first round
   */
  function fresh<T extends { round: number }>(answer: T, { window }: AlgorandPayment, { name }: Algod): T {
    const least = Math.min(window.firstValid, rounds.latest());
    if (answer.round < least)
      throw unavailable(`${name} has round ${answer.round}, and the payment's first is ${least}`);
    return answer;
  }

  /** Whether the signer may sign for the sender now and, if it is a program, whether the program accepts the group. */
  async function isAuthorized(payment: AlgorandPayment, signal: AbortSignal): Promise<boolean> {
    const { key, payer, signed, members } = payment;
    const authorizer = async (algod: Algod, ends: AbortSignal) =>
      fresh(await algod.account(payer, ends), payment, algod).authorizer;
    const about = `the signature of ${key}`;
    const [authorized] = await agree(nodes.algods, authorizer, { about, same: String, signal }, nodes.rules);
    if (authorized !== encodeAddress(signed.authorizer)) return false;
    if (signed.kind !== "lsig") return true;
    // The program runs on the whole group, in which only the fee payer's transaction may be unsigned.
    const group = members.map(({ transaction, envelope }) => new Map(envelope).set("txn", transaction));
    const run = async (algod: Algod, ends: AbortSignal) => (await algod.simulate(group, ends)) === undefined;
    const [accepted] = await agree(nodes.algods, run, { about, same: String, signal }, nodes.rules);
    return accepted;
  }

  return {
    ...ALGORAND,
    extra: {},
    wallets: {
      async now(signal) {
        const { genesisId, lastRound: round, minFee, feePerByte } = await agreedParams(nodes, signal);
        return { genesisId, genesisHash, round, minFee: Number(minFee), feePerByte: Number(feePerByte) };
      },
      isAddress: isAlgorandAddress,
      async holding(address, signal) {
        const ask = (algod: Algod, ends: AbortSignal) => algod.assetHolding(address, ALGORAND.asset, ends);
        const holding = await failover(nodes.algods, ask, { about: `the balance of ${address}`, signal });
        return holding?.amount;
      },
    },
    isNetwork: (network) => spellings.has(network),

    read: (payload) => readPayment(payload, genesis),

    // Never `valid`: only the ledger knows whether the sender is rekeyed, even when its own key has signed.
    async signature({ members, index, signed }) {
      const { bytes } = members[index] as GroupMember;
      return isSignedByAuthorizer(signed, bytes) ? "on_chain" : "invalid";
    },

    async onChain(payment, signal) {
      if (await isAuthorized(payment, signal)) return true;
      // The signer may have been authorized when the payment was made: then the ledger accepted it from the same
      // signer.
      const bySigner = (location: Location) => ` signed by ${signerFact(location)}`;
      const found = await find(payment, signal, bySigner);
      const isTold = found?.signed !== undefined || found?.record !== undefined;
      const landed = found && (isTold ? found : await locate(nodes, payment.txid, signal, bySigner));
      return landed !== undefined && hasSigned(payment.signed, landed);
    },

    checkLayout: async (payment) => checkLayout(payment, genesis),

    async check(payment, requirement, signal) {
      checkLayout(payment, genesis);
      checkTransfer(payment, requirement);
      checkFeePayer(payment, requirement.extra.feePayer, maxFee);
      await awaitRound(payment.window.firstValid, signal);
      checkWindow(payment.window, rounds, maxLifeSeconds);
    },

    async balance(payment, signal) {
      const { payer } = payment;
      const ask = async (algod: Algod, ends: AbortSignal) => {
        const holding = await algod.assetHolding(payer, ALGORAND.asset, ends);
        return fresh(holding ?? { amount: 0n, round: await algod.lastRound(ends) }, payment, algod).amount;
      };
      return agreeOnQuantity(nodes.algods, ask, { about: `the balance of ${payer}`, signal }, nodes.rules);
    },

    async payeeFault(payTo, signal) {
      const ask = async (algod: Algod, ends: AbortSignal) => {
        const holding = await algod.assetHolding(payTo, ALGORAND.asset, ends);
        if (!holding) return `has not opted in to USDC (asset ${ALGORAND.asset})`;
        return holding.isFrozen ? "has a USDC holding that is frozen" : undefined;
      };
      const question = { about: `the payee ${payTo}`, same: String, signal };
      const [fault] = await agree(nodes.algods, ask, question, nodes.rules);
      return fault;
    },

    async status({ txid: id, window }, signal): Promise<PaymentStatus> {
      const status = await rounds.status(id, window, signal);
      if (status.state === "confirmed") return { state: "paid", transaction: id, height: status.round, final: true };
      if (status.state === "dead") return { state: "void", reason: `expired unspent in round ${window.lastValid}` };
      return status;
    },

    async spent(payment, signal) {
      return (await find(payment, signal)) !== undefined;
    },

    news: async (signal) => void (await rounds.next(signal)),
  };
}

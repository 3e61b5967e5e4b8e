import type { PaymentPayload, PaymentRequirements } from "@x402/core/types";
import type { Rounds } from "../src/ledger/ledger.ts";
import type { Clock } from "../src/lib/clock.ts";
import { ignoring } from "../src/lib/errors.ts";
import { type Payment, type PaymentStatus, paymentRefused, type Rail } from "../src/payment/rails/rail.ts";
import { hasLaggards } from "../src/providers/quorum.ts";
import type { Ask } from "./network.ts";
import { LAG_MS, type ListName, NODES, type Nodes, type Sight } from "./nodes.ts";
import { isPayers, type Sent, type Signer, type SimulatedScheme } from "./payload.ts";
import { type Authorization, FINALITY_MS, type PaymentChain } from "./payments.ts";
import type { Random } from "./random.ts";
import type { Life, Scheduler } from "./scheduler.ts";

export type SimulatedPayment = Payment & { authorization: Authorization; signature: Sent["signature"]; by: Signer };

export type RailOptions = {
  life: Life;
  clock: Clock;
  scheduler: Scheduler;
  ask: Ask;
  nodes: Nodes;
  /** Draws what nodes make up. */
  lies: Random;
  /** Every authorization that was ever signed, by id. */
  authorizations: ReadonlyMap<string, Authorization>;
  /** Called when an upstream is asked that only the payer of the payment may cause to be asked. */
  vouched(payload: PaymentPayload): void;
  /** The request that carries the payload has learnt something from outside, as it was at that time, Unix ms. */
  looked(payload: PaymentPayload, at: number): void;
};

/** Life that must be left when a payment is admitted, in ms; as long as any that a payer signs for. */
const MARGIN_MS = 10_000;
/** How far behind any node may be that follows a token's chain, in ms. */
const BEHIND_MS = 3_000;
const POLL_MS = 1_000;

/** What every rail does alike: it reads and checks the payload, and asks nodes. */
function railOn(chain: PaymentChain, options: RailOptions) {
  const { life, ask, nodes, scheduler, authorizations, looked, vouched } = options;
  const list = chain.rail as ListName;

  function question<T>(
    what: string,
    { authorization }: SimulatedPayment,
    signal: AbortSignal,
    work: () => T,
  ): Promise<T> {
    const about = authorization.key;
    return ask<T>({ life, to: "payments", what, about, signal, serve: (answer) => answer(work()), ...NODES });
  }

  /** Asks every node of the chain a question of yes or no. */
  async function agreed(
    what: string,
    { authorization, payload }: SimulatedPayment,
    signal: AbortSignal,
    isSo: (at: number) => boolean,
  ): Promise<boolean> {
    const about = authorization.key;
    let isFirst = true;
    const answer = ({ at, lies }: Sight) => {
      // What every node shows that is asked now or later.
      if (isFirst) looked(payload, scheduler.now - (nodes.mayLag(list) ? LAG_MS : 0));
      isFirst = false;
      return isSo(at) !== lies;
    };
    const [is] = await nodes.agreeOn({ list, to: "payments", what, about, answer, same: String, signal });
    return is;
  }

  const rail = {
    name: chain.rail,
    network: chain.network,
    asset: chain.asset,
    extra: {},
    needsFeePayer: chain.rail !== "base",
    isForAnyFacilitator: chain.rail === "base",
    paysFor: (source: string) => chain.rail === "algorand" || source !== "algorand",
    isNetwork: (network: string) => network === chain.network,
    sameAddress: (a: string, b: string) => a === b,

    read(payload: PaymentPayload): SimulatedPayment {
      const scheme = payload.payload as SimulatedScheme;
      const authorization = authorizations.get(scheme.authorization);
      if (authorization?.rail !== chain.rail) throw paymentRefused("no authorization of this rail");
      return {
        rail: chain.rail,
        key: authorization.key,
        aliases: chain.rail === "algorand" ? [`${authorization.key}/group`] : [],
        payer: authorization.account.name,
        payTo: authorization.payTo,
        amount: authorization.amount,
        asset: chain.asset,
        payload,
        wire: payload.payload,
        authorization,
        signature: scheme.signature,
        by: scheme.by,
      };
    },

    payeeFault: async () => undefined,

    async signature({ signature, by }: SimulatedPayment) {
      if (signature === "none") return "invalid";
      if (by !== "key") return "on_chain";
      return isPayers(signature) ? "valid" : "invalid";
    },

    onChain(payment: SimulatedPayment, signal: AbortSignal): Promise<boolean> {
      return agreed("wallet", payment, signal, () => {
        const { authorization, signature, by } = payment;
        // A signature that can no longer be checked is known from the payment that was made with it.
        const canBeTold = by !== "program" || chain.isSpendable(authorization);
        return isPayers(signature) && (canBeTold || chain.spending(authorization) !== undefined);
      });
    },

    async checkLayout() {},

    balance(payment: SimulatedPayment, signal: AbortSignal): Promise<bigint> {
      return question("balance", payment, signal, () => {
        vouched(payment.payload);
        return payment.authorization.account.balance;
      });
    },

    spent(payment: SimulatedPayment, signal: AbortSignal): Promise<boolean> {
      return agreed("spent", payment, signal, (at) => {
        vouched(payment.payload);
        return (chain.spending(payment.authorization)?.at ?? Number.POSITIVE_INFINITY) <= at;
      });
    },
  } satisfies Partial<Rail<SimulatedPayment>>;
  return { rail, question };
}

function checkTransfer({ amount, payTo, feePayer }: Authorization, requirement: PaymentRequirements): void {
  if (amount !== BigInt(requirement.amount)) throw paymentRefused(`the payment moves ${amount}`);
  if (payTo !== requirement.payTo) throw paymentRefused(`the payment goes to ${payTo}`);
  if (feePayer !== requirement.extra.feePayer) throw paymentRefused(`the payment names the fee payer ${feePayer}`);
}

/** The rail of a token's chain, which nodes are asked about, some of them a while behind. */
export function tokenRail(chain: PaymentChain, options: RailOptions): Rail<SimulatedPayment> {
  const { clock, scheduler, nodes, lies } = options;
  const { rail } = railOn(chain, options);
  return {
    ...rail,
    async check({ authorization }, requirement) {
      checkTransfer(authorization, requirement);
      if (authorization.validUntil < clock.now() + MARGIN_MS) throw paymentRefused("the payment expires too soon");
    },
    async status({ authorization }, signal) {
      const about = authorization.key;
      const answer = ({ at, lies: isLying }: Sight): Shown => {
        const seen = at - scheduler.random.below(BEHIND_MS);
        return { ...(isLying ? madeUp(lies, authorization) : statusAt(seen, chain, authorization)), seen };
      };
      const list = chain.rail as ListName;
      const asked = { list, to: "payments", what: "status", about, answer, same: describe, behind, signal } as const;
      const shown = await nodes.agreeOn(asked).catch(ignoring(hasLaggards));
      return shown ? commonStanding(shown) : { state: "open" };
    },
    news: (signal) => clock.sleep(POLL_MS, signal),
  };
}

/** What a node shows of a payment, and the Unix ms until which it has seen everything. */
type Shown = PaymentStatus & { seen: number };

/** The fact on which nodes must agree: what is not paid may become void while they answer. */
function describe(shown: Shown): string {
  return shown.state === "paid" ? `paid in ${shown.height}` : "unpaid";
}

/** Whether a node had not reached the block in which another saw the payment. */
function behind(shown: Shown, others: readonly Shown[]): boolean {
  return shown.state !== "paid" && others.some((other) => other.state === "paid" && shown.seen <= other.seen);
}

/** As the rails do (payment/rails/base/rail.ts): void, or final, is what every agreeing node shows as such. */
function commonStanding(shown: readonly [Shown, ...Shown[]]): PaymentStatus {
  const [first] = shown;
  if (first.state === "paid") return { ...first, final: shown.every((each) => each.state === "paid" && each.final) };
  return shown.every(({ state }) => state === "void") ? first : { state: "open" };
}

/** What a node says that lies. */
function madeUp(lies: Random, { key, validUntil }: Authorization): PaymentStatus {
  return lies.pick<PaymentStatus>([
    { state: "paid", transaction: key, height: 1, final: true },
    { state: "void", reason: `made up, before ${validUntil}` },
    { state: "open" },
  ]);
}

/** What a node shows that has seen all until a time. */
function statusAt(time: number, chain: PaymentChain, authorization: Authorization): PaymentStatus {
  const spending = chain.spending(authorization);
  if (spending !== undefined && spending.at <= time)
    return {
      state: "paid",
      transaction: authorization.key,
      height: spending.height,
      final: spending.at + FINALITY_MS <= time,
    };
  const cancelled = chain.cancellation(authorization);
  if (cancelled !== undefined && cancelled + FINALITY_MS <= time) return { state: "void", reason: "cancelled" };
  if (authorization.validUntil + FINALITY_MS <= time) return { state: "void", reason: "expired unspent" };
  return { state: "open" };
}

/** The rail of the ledger itself, which the process follows round by round (payment/rails/algorand.ts). */
export function ledgerRail(chain: PaymentChain, rounds: Rounds, options: RailOptions): Rail<SimulatedPayment> {
  const { rail } = railOn(chain, options);
  return {
    ...rail,
    async check({ authorization }, requirement) {
      checkTransfer(authorization, requirement);
      if (authorization.validUntil < rounds.latest() + 3) throw paymentRefused("the payment expires too soon");
    },
    async status({ authorization }, signal): Promise<PaymentStatus> {
      const { key: id, validFrom, validUntil } = authorization;
      const status = await rounds.status(id, { firstValid: validFrom, lastValid: validUntil }, signal);
      if (status.state === "confirmed") return { state: "paid", transaction: id, height: status.round, final: true };
      if (status.state === "dead") return { state: "void", reason: "expired unspent" };
      return status;
    },
    async news(signal) {
      await rounds.next(signal);
    },
  };
}

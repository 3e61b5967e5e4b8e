import type { PaymentPayload, PaymentRequirements } from "@x402/core/types";
import type { Clock } from "../src/clock.ts";
import type { Rounds } from "../src/ledger/ledger.ts";
import { type Payment, type PaymentStanding, paymentRefused, type Rail } from "../src/payment/rails/rail.ts";
import { NODES } from "./ledger-view.ts";
import type { Ask } from "./network.ts";
import { isPayers, type Sent, type Signer, type SimulatedScheme } from "./payload.ts";
import { type Authorization, FINALITY_MS, type PaymentChain } from "./payments.ts";
import type { Life, Scheduler } from "./scheduler.ts";

export type SimulatedPayment = Payment & { authorization: Authorization; signature: Sent["signature"]; by: Signer };

export type RailOptions = {
  life: Life;
  clock: Clock;
  scheduler: Scheduler;
  ask: Ask;
  /** Every authorization that was ever signed, by id. */
  authorizations: ReadonlyMap<string, Authorization>;
  /** Called when an upstream is asked that only the payer of the payment may cause to be asked. */
  vouched(payload: PaymentPayload): void;
  /** The request that carries the payload has just learnt something from outside. */
  looked(payload: PaymentPayload): void;
};

/** Life that must be left when a payment is admitted, in ms; as long as any that a payer signs for. */
const MARGIN_MS = 10_000;
/** How far behind a node may be. */
const LAG_MS = 3_000;
const POLL_MS = 1_000;

/** What every rail does alike: it reads and checks the payload, and asks nodes. */
function railOn(chain: PaymentChain, options: RailOptions) {
  const { life, ask, authorizations, looked, vouched } = options;

  function question<T>(
    what: string,
    { authorization }: SimulatedPayment,
    signal: AbortSignal,
    work: () => T,
  ): Promise<T> {
    const about = authorization.key;
    return ask<T>({ life, to: "payments", what, about, signal, serve: (answer) => answer(work()), ...NODES });
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
      return question("wallet", payment, signal, () => {
        looked(payment.payload);
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
      return question("spent", payment, signal, () => {
        looked(payment.payload);
        vouched(payment.payload);
        return chain.spending(payment.authorization) !== undefined;
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
  const { clock, scheduler } = options;
  const { rail, question } = railOn(chain, options);
  return {
    ...rail,
    async check({ authorization }, requirement) {
      checkTransfer(authorization, requirement);
      if (authorization.validUntil < clock.now() + MARGIN_MS) throw paymentRefused("the payment expires too soon");
    },
    standing: (payment, signal) =>
      question("standing", payment, signal, () =>
        standingAt(scheduler.now - scheduler.random.below(LAG_MS), chain, payment.authorization),
      ),
    news: (signal) => clock.sleep(POLL_MS, signal),
  };
}

/** What a node shows that has seen all until a time. */
function standingAt(time: number, chain: PaymentChain, authorization: Authorization): PaymentStanding {
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
    async standing({ authorization }, signal): Promise<PaymentStanding> {
      const { key: id, validFrom, validUntil } = authorization;
      const standing = await rounds.standing(id, { firstValid: validFrom, lastValid: validUntil }, signal);
      if (standing.state === "confirmed")
        return { state: "paid", transaction: id, height: standing.round, final: true };
      if (standing.state === "dead") return { state: "void", reason: "expired unspent" };
      return standing;
    },
    async news(signal) {
      await rounds.next(signal);
    },
  };
}

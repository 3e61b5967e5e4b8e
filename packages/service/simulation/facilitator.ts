import type { PaymentPayload } from "@x402/core/types";
import { hasCode } from "../src/lib/errors.ts";
import {
  type Facilitator,
  type FacilitatorError,
  facilitatorFailed,
  type SettleAnswer,
  type SupportedKind,
  type VerifyAnswer,
} from "../src/payment/facilitator.ts";
import type { Faults, Upstream } from "./faults.ts";
import type { Ask, Question } from "./network.ts";
import { isPayers, type SimulatedScheme } from "./payload.ts";
import type { Authorization, PaymentChain } from "./payments.ts";
import type { Life, Scheduler } from "./scheduler.ts";

/** One of the two facilitators that serve every chain. */
export type FacilitatorName = {
  /** As the rows of calls name it. */
  readonly id: string;
  /** Whom it names as the fee payer, on the chains where payers sign for one. */
  readonly feePayer: string;
  readonly upstream: Upstream;
};
export const FACILITATORS: readonly FacilitatorName[] = [
  { id: "https://first.example", feePayer: "FIRST", upstream: "facilitator" },
  { id: "https://second.example", feePayer: "SECOND", upstream: "second facilitator" },
];

export type FacilitatorOptions = {
  life: Life;
  faults: Faults;
  scheduler: Scheduler;
  ask: Ask;
  authorizations: ReadonlyMap<string, Authorization>;
  /** The request that carries the payload has just learnt something from outside. */
  looked(payload: PaymentPayload): void;
  /** Called when an upstream is asked that only the payer of the payment may cause to be asked. */
  vouched(payload: PaymentPayload): void;
  /** It calls a payment bad that is good. */
  refusing(payload: PaymentPayload): void;
  /** The process sends a request for a settlement. @returns to be called when it no longer waits for the answer */
  sent(authorization: Authorization): () => void;
  /** A request for a settlement has arrived. */
  asked(authorization: Authorization, by: FacilitatorName): void;
};

/** How long it keeps what it refused and settles, in ms. */
const MAX_KEPT_MS = 60_000;
/** How long it has those wait who ask too often, in ms. */
const MAX_RETRY_AFTER_MS = 20_000;
const PENDING: SettleAnswer = { success: false, isPending: true, reason: "settlement_pending" };
const gaveNone = (ending?: "late") => facilitatorFailed("the facilitator gave no answer", ending);
const FAILURES = {
  broken: () => gaveNone(),
  ended: (signal: AbortSignal) => (isLate(signal) ? gaveNone("late") : signal.reason),
};

function isLate({ reason }: AbortSignal): boolean {
  return reason instanceof Error && reason.name === "TimeoutError";
}

/** A facilitator of one chain, as one process reaches it: right, unless it lies. */
export function simulatedFacilitator(
  chain: PaymentChain,
  name: FacilitatorName,
  options: FacilitatorOptions,
): Facilitator {
  const { life, faults, authorizations } = options;

  /** Asks it; now and then it answers 429. */
  async function ask<T>({ serve, ...question }: Question<T>): Promise<T> {
    const answered = await options.ask<T | FacilitatorError>({
      ...question,
      serve(answer) {
        const limited = () => facilitatorFailed("HTTP 429", 429, { retryAfterMs: faults.below(MAX_RETRY_AFTER_MS) });
        if (faults.lies("limited")) answer(limited());
        else serve(answer);
      },
    });
    if (hasCode(answered, "facilitator_failed")) throw answered;
    return answered as T;
  }

  const read = ({ payload }: PaymentPayload) => {
    const { authorization: id, signature } = payload as SimulatedScheme;
    const authorization = authorizations.get(id);
    if (!authorization) throw new Error(`nobody signed ${id}`);
    const { feePayer = name.feePayer } = authorization;
    const good = isPayers(signature) && feePayer === name.feePayer && chain.isSpendable(authorization);
    return { authorization, good };
  };

  function settle(payload: PaymentPayload, answer: (value: SettleAnswer) => void): void {
    const { authorization, good } = read(payload);
    options.asked(authorization, name);
    if (faults.lies("false success")) answer({ success: true });
    else if (faults.lies("false pending")) answer(PENDING);
    else if (!good) answer({ success: false, reason: "invalid_payload" });
    else {
      if (faults.lies("double")) chain.broadcast(authorization, () => undefined);
      const ill = faults.lies("false failure");
      const isPending = !ill && faults.lies("pending");
      if (ill) answer({ success: false, reason: "unexpected_settle_error" });
      if (isPending) answer(PENDING);
      chain.broadcast(authorization, (success) => {
        if (!ill && !isPending) answer(success ? { success } : { success, reason: "invalid_transaction_state" });
      });
    }
  }

  /** Half of what it refuses wrongly it keeps, and settles later. */
  function refuse(payload: PaymentPayload, authorization: Authorization): void {
    options.refusing(payload);
    if (faults.below(2) === 0) return;
    faults.count("facilitator settles what it refused");
    const settleLater = () => chain.broadcast(authorization, () => undefined);
    options.scheduler.send(
      undefined,
      faults.below(MAX_KEPT_MS),
      "is settled after all",
      authorization.key,
      settleLater,
    );
  }

  return {
    verify: (payload, _, signal) =>
      ask<VerifyAnswer>({
        life,
        to: name.upstream,
        what: "verify",
        about: read(payload).authorization.key,
        signal,
        serve: (answer) => {
          options.looked(payload);
          options.vouched(payload);
          const { authorization, good } = read(payload);
          const valid = good ? !faults.lies("false refusal") : faults.lies("false approval");
          if (good && !valid) refuse(payload, authorization);
          answer(valid ? { valid } : { valid, reason: "invalid_payload" });
        },
        ...FAILURES,
      }),
    settle: (payload, _, signal) => {
      const { authorization } = read(payload);
      const ended = options.sent(authorization);
      const answered = ask<SettleAnswer>({
        life,
        to: name.upstream,
        what: "settle",
        about: authorization.key,
        signal,
        serve: (answer) => settle(payload, answer),
        ...FAILURES,
      });
      void answered.then(ended, ended);
      return answered;
    },
    supported: (signal) =>
      ask<SupportedKind[]>({
        life,
        to: name.upstream,
        what: "supported",
        about: chain.network,
        signal,
        serve: (answer) =>
          answer([{ network: chain.network, extra: chain.rail === "base" ? {} : { feePayer: name.feePayer } }]),
        ...FAILURES,
      }),
  };
}

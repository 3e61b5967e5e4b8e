import type { PaymentPayload } from "@x402/core/types";
import {
  type Facilitator,
  facilitatorFailed,
  type SettleAnswer,
  type VerifyAnswer,
} from "../src/payment/facilitator.ts";
import type { Faults } from "./faults.ts";
import type { Ask } from "./network.ts";
import { isPayers, type SimulatedScheme } from "./payload.ts";
import type { Authorization, PaymentChain } from "./payments.ts";
import type { Life } from "./scheduler.ts";

export type FacilitatorOptions = {
  life: Life;
  faults: Faults;
  ask: Ask;
  authorizations: ReadonlyMap<string, Authorization>;
  /** The request that carries the payload has just learnt something from outside. */
  looked(payload: PaymentPayload): void;
  /** Called when an upstream is asked that only the payer of the payment may cause to be asked. */
  vouched(payload: PaymentPayload): void;
  /** The process sends a request for a settlement. @returns to be called when it no longer waits for the answer */
  sent(authorization: Authorization): () => void;
  /** A request for a settlement has arrived. */
  asked(authorization: Authorization): void;
};

const gaveNone = () => facilitatorFailed("the facilitator gave no answer");
const FAILURES = { broken: gaveNone, ended: (signal: AbortSignal) => (isLate(signal) ? gaveNone() : signal.reason) };

function isLate({ reason }: AbortSignal): boolean {
  return reason instanceof Error && reason.name === "TimeoutError";
}

/** A facilitator of one chain, as one process reaches it: right, unless it lies. */
export function simulatedFacilitator(chain: PaymentChain, options: FacilitatorOptions): Facilitator {
  const { life, faults, ask, authorizations } = options;

  const read = ({ payload }: PaymentPayload) => {
    const { authorization: id, signature } = payload as SimulatedScheme;
    const authorization = authorizations.get(id);
    if (!authorization) throw new Error(`nobody signed ${id}`);
    return { authorization, good: isPayers(signature) && chain.isSpendable(authorization) };
  };

  function settle(payload: PaymentPayload, answer: (value: SettleAnswer) => void): void {
    const { authorization, good } = read(payload);
    options.asked(authorization);
    if (faults.lies("false success")) answer({ success: true });
    else if (!good) answer({ success: false, reason: "invalid_payload" });
    else {
      if (faults.lies("double")) chain.broadcast(authorization, () => undefined);
      const ill = faults.lies("false failure");
      if (ill) answer({ success: false, reason: "unexpected_settle_error" });
      chain.broadcast(authorization, (success) => {
        if (!ill) answer(success ? { success } : { success, reason: "invalid_transaction_state" });
      });
    }
  }

  return {
    verify: (payload, _, signal) =>
      ask<VerifyAnswer>({
        life,
        to: "facilitator",
        what: "verify",
        about: read(payload).authorization.key,
        signal,
        serve: (answer) => {
          options.looked(payload);
          options.vouched(payload);
          const valid = read(payload).good ? !faults.lies("false refusal") : faults.lies("false approval");
          answer(valid ? { valid } : { valid, reason: "invalid_payload" });
        },
        ...FAILURES,
      }),
    settle: (payload, _, signal) => {
      const { authorization } = read(payload);
      const ended = options.sent(authorization);
      const answered = ask<SettleAnswer>({
        life,
        to: "facilitator",
        what: "settle",
        about: authorization.key,
        signal,
        serve: (answer) => settle(payload, answer),
        ...FAILURES,
      });
      void answered.then(ended, ended);
      return answered;
    },
    async supported() {
      return [{ network: chain.network, extra: { feePayer: "FEEPAYER" } }];
    },
  };
}

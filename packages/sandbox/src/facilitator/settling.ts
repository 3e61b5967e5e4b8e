import { setTimeout as sleep } from "node:timers/promises";
import type { x402Facilitator } from "@x402/core/facilitator";
import type { SettleResponse } from "@x402/core/types";
import type { Behaviour } from "./behaviour.ts";
import { type Dialect, type FacilitatorRequest, IN_FLIGHT } from "./dialect.ts";

/** No answer: the connection is closed. */
export const HANG_UP = Symbol("hang up");

export interface SettlingOptions {
  facilitator: x402Facilitator;
  dialect: Dialect;
  /** Aborted when the server closes. */
  closed: AbortSignal;
}

/**
 * Settles a payment as a behaviour demands, or without one like the dialect.
 * @returns the answer
 * @throws what a scheme throws, and an AbortError when the server closes while the behaviour waits
 */
export async function settleAs(
  behaviour: Behaviour | undefined,
  request: FacilitatorRequest,
  { facilitator, dialect, closed }: SettlingOptions,
): Promise<Response | typeof HANG_UP> {
  const { name, milliseconds = 0, reason = "" } = behaviour ?? {};
  const { network } = request.requirements;
  const pause = () => sleep(milliseconds, undefined, { signal: closed, ref: false });
  const settle = async (before?: () => Promise<unknown>) =>
    dialect.settle(request, async () => {
      await before?.();
      return facilitator.settle(request.payload, request.requirements);
    });
  const unsettled = (errorReason: string, transaction = ""): SettleResponse => {
    const errorMessage = `the sandbox was asked to answer ${errorReason}`;
    return { success: false, errorReason, errorMessage, transaction, network };
  };
  const duplicate = () => Response.json(unsettled("duplicate_settlement"), { status: 409 });
  const answer = (outcome: SettleResponse | typeof IN_FLIGHT, change = (given: SettleResponse) => given) =>
    outcome === IN_FLIGHT ? duplicate() : dialect.settled(change(outcome));

  switch (name) {
    case "slow":
      return answer(await settle(pause));
    case "refused":
      return dialect.settled(unsettled(reason));
    case "late": {
      const outcome = await settle();
      await pause();
      return answer(outcome);
    }
    case "lost":
      await settle();
      return HANG_UP;
    case "pending": {
      if (milliseconds === 0) return answer(await settle(), ({ transaction }) => pending(transaction));
      // Nobody waits for it; its outcome is on the chain, or in the dialect's records.
      settle(pause).catch(() => {});
      return dialect.settled(pending(""));
    }
    case "unsent":
      return dialect.settled(pending(""));
    case "claimed":
      return dialect.settled({ success: true, transaction: "no such transaction", network });
    case "empty":
      return answer(await settle(), (outcome) => ({ ...outcome, transaction: "" }));
    case "denied":
      return answer(await settle(), ({ transaction }) => unsettled(reason, transaction));
    case "duplicate":
      return duplicate();
    default:
      return answer(await settle());
  }

  function pending(transaction: string): SettleResponse {
    return unsettled("settlement_pending", dialect.namesPending(network) ? transaction : "");
  }
}

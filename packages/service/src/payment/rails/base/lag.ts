import type { Clock } from "../../../lib/clock.ts";
import { hasCode, ServiceError } from "../../../lib/errors.ts";
import { refusalOf } from "../../../providers/json-rpc.ts";
import { type ProviderError, unavailable } from "../../../providers/provider.ts";

/**
 * How often a question is asked, and the pause between, in ms: 2 s in all, which are ten blocks. Nodes behind one
 * balancer are some blocks apart, and Base makes a block every 200 ms.
 */
const MAX_TRIES = 5;
const PAUSE_MS = 500;

/** Refusals of nodes that do not know a block yet: geth, reth, op-geth, QuickNode. */
const UNKNOWN_BLOCK =
  /header not found|unknown block|block (?:number )?not found|(?:could|can)not be found|block .*is not available|beyond (?:the )?current head|invalid block range params/i;

/** Makes the error for a node that lacks what its URL has shown before. */
export function lagging(message: string): ProviderError {
  return unavailable(message, new ServiceError("block_unknown", message));
}

/** Whether a node failed because of a block that it does not know yet. */
export function isLag(error: unknown): boolean {
  const refusal = refusalOf(error);
  if (refusal) return UNKNOWN_BLOCK.test(refusal.message);
  return error instanceof Error && hasCode(error.cause, "block_unknown");
}

/**
 * Asks again while the node lags, a limited number of times: what one node does not know yet does not count as absent.
 * @throws what `ask` throws
 */
export async function untilCaughtUp<T>(
  clock: Pick<Clock, "sleep">,
  ask: () => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await ask();
    } catch (error) {
      if (!isLag(error) || tries === MAX_TRIES) throw error;
      await clock.sleep(PAUSE_MS, signal);
    }
  }
}

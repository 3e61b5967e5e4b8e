import { ignoring } from "../lib/errors.ts";
import { agreedParams } from "../providers/algorand-nodes.ts";
import { isProviderError } from "../providers/provider.ts";
import { degradedIf, OK, type Status } from "./health.ts";

/**
 * Watches whether algod's pool is congested. Then it asks for a fee for each byte, which the fee payers of stock facilitators
 * do not pay: payments are refused, while our own attestations pay what is asked.
 */
export function watchCongestion(nodes: Parameters<typeof agreedParams>[0]) {
  /** microAlgos; 0 without congestion. */
  let feePerByte = 0n;
  return {
    /** Asks again; if too few nodes answer, the last answer counts. */
    async refresh(signal: AbortSignal): Promise<void> {
      const params = await agreedParams(nodes, signal).catch(ignoring(isProviderError));
      if (params) feePerByte = params.feePerByte;
    },

    status(): Status {
      if (feePerByte === 0n) return OK;
      return degradedIf(
        `algod's pool is congested and asks for ${feePerByte} microAlgos a byte: Algorand payments with usual fees are refused`,
      );
    },
  };
}

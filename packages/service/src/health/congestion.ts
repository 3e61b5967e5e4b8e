import { ignoring } from "../errors.ts";
import type { Algod } from "../providers/algod.ts";
import { isProviderError } from "../providers/provider.ts";
import { failover } from "../providers/quorum.ts";
import { degradedIf, OK, type Status } from "./health.ts";

/**
 * Watches whether algod's pool is congested. Then it asks for a fee for each byte, which the fee payers of stock facilitators
 * do not pay: payments are refused, while our own attestations pay what is asked.
 */
export function watchCongestion(algods: readonly Pick<Algod, "params">[]) {
  /** microAlgos; 0 without congestion. */
  let feePerByte = 0n;
  return {
    /** Asks again; if no node answers, the last answer counts. */
    async refresh(signal: AbortSignal): Promise<void> {
      const question = { about: "the fee of a byte", signal };
      const asked = failover(algods, (algod, ends) => algod.params(ends), question);
      const params = await asked.catch(ignoring(isProviderError));
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

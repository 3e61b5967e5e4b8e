import type { Logger } from "pino";
import { ignoring } from "../errors.ts";
import type { Algod } from "./algod.ts";
import { isProviderError } from "./provider.ts";
import { failover } from "./quorum.ts";

/**
 * Watches whether algod's pool is congested. Then it asks for a fee for each byte, which the fee payers of stock facilitators
 * do not pay: payments are refused, while our own attestations pay what is asked.
 */
export function watchCongestion(algods: readonly Pick<Algod, "params">[], log: Pick<Logger, "warn" | "info">) {
  /** microAlgos; 0 without congestion. */
  let feePerByte = 0n;
  return {
    /** Asks again; if no node answers, the last answer counts. */
    async refresh(signal: AbortSignal): Promise<void> {
      const question = { about: "the fee of a byte", signal };
      const asked = failover(algods, (algod, ends) => algod.params(ends), question);
      const params = await asked.catch(ignoring(isProviderError));
      if (!params) return;
      const was = feePerByte;
      feePerByte = params.feePerByte;
      if (was === 0n && feePerByte > 0n)
        log.warn(
          { microAlgosPerByte: Number(feePerByte) },
          "the pool is congested: usual fees of payments are refused",
        );
      if (was > 0n && feePerByte === 0n) log.info("the pool is no longer congested");
    },

    /** Which payments may fail meanwhile. */
    doubt(): string | undefined {
      if (feePerByte === 0n) return undefined;
      return `algod's pool is congested and asks for ${feePerByte} microAlgos a byte: Algorand payments with usual fees are refused`;
    },
  };
}

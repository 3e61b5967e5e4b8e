import type { KeyHistory } from "@attestd/proof";
import type { Logger } from "pino";
import type { Config } from "../config/config.ts";
import { systemClock } from "../lib/clock.ts";
import { createBulkhead } from "../lib/workers/bulkhead.ts";
import { openVerificationNetworks } from "../networks/networks.ts";
import { createChainRecords } from "./chain-records.ts";
import { createVerifier } from "./verifier.ts";
import { createVerificationPool } from "./worker-pool.ts";

/**
 * The bulkhead for look-ups. Verifying a bundle online takes two or three, of up to six upstream requests each. They
 * are free, and must leave most of an upstream's rate limit to paid calls.
 */
const LOOK_UPS = { maxActive: 4, maxWaiting: 64, perSecond: 8 };

/**
 * Opens verification's worker pool and clients, whose breakers are separate from those of paid calls.
 * @param options as of `createVerificationPool`, `createVerifier` and `createChainRecords`
 */
export function openVerification(
  config: Config,
  log: Logger,
  { history, genesisHash, deadlineMs }: { history: () => KeyHistory; genesisHash: string; deadlineMs: number },
) {
  const pool = createVerificationPool(config.workers, history);
  const networks = openVerificationNetworks(config, log);
  const bulkhead = createBulkhead({ ...LOOK_UPS, clock: systemClock });
  const records = createChainRecords({ ...networks, bulkhead, deadlineMs });
  return {
    verifier: createVerifier({ pool, records, genesisHash }),
    load: pool.load,
    readMessage: pool.readMessage,
    async close() {
      await Promise.all([networks.close(), pool.close()]);
    },
  };
}

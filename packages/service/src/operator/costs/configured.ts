import pino from "pino";
import { deadline, systemClock } from "../../clock.ts";
import { readConfig } from "../../config/config.ts";
import type { FacilitatorSettings } from "../../config/facilitators.ts";
import { ServiceError } from "../../errors.ts";
import { openLedger } from "../../networks/networks.ts";
import type { RailName } from "../../payment/rails/rail.ts";
import { RAIL_SETTINGS } from "../../payment/rails/registry.ts";
import { openAccount } from "../../signers/open.ts";
import type { OperatorOptions, Settings } from "../session.ts";
import type { CostInputs } from "./costs.ts";
import { facilitatorAt, type Settlement, settlementOf } from "./settlement.ts";

/** How long the nodes may take to name the account's balance, in ms. */
const DEADLINE_MS = 30_000;

/**
 * What a configured service sells, at which prices, and the ALGO of its attestor.
 *
 * @param named settlements by rail, instead of those of the configured facilitators
 * @throws config_invalid; argument_invalid for a facilitator whose price is not known; ProviderError
 */
export async function configuredCosts(
  settings: Settings,
  named: ReadonlyMap<RailName, Settlement>,
  { sandbox, signal }: OperatorOptions,
): Promise<Pick<CostInputs, "rails" | "spendable"> & { itemPrice: bigint }> {
  const config = readConfig(settings, { sandbox, rails: RAIL_SETTINGS });
  const rails = Object.entries(config.rails).map(([rail, { price, facilitators }]) => {
    const settlement = named.get(rail) ?? dearest(facilitators.map((one) => publishedOf(one, rail)));
    return { rail, price, settlement };
  });
  await using opened = new AsyncDisposableStack();
  const ends = deadline(systemClock, DEADLINE_MS, signal);
  const log = pino({ level: "silent" });
  const account = opened.adopt(await openAccount(config, { log, signal: ends }), (one) => one.close());
  const { ledger } = opened.adopt(openLedger(config, account, log), (one) => one.close());
  return { rails, itemPrice: config.batch.itemPrice, spendable: await ledger.spendable(ends) };
}

function publishedOf({ url, auth }: FacilitatorSettings, rail: RailName): Settlement {
  const name = auth.kind === "cdp" || auth.kind === "payai" ? auth.kind : facilitatorAt(url);
  const settlement = name === undefined ? undefined : settlementOf(name, rail);
  if (settlement) return settlement;
  const { host } = new URL(url);
  const remedy = `name it, in USD a settlement: --facilitator ${rail}=0.001`;
  throw new ServiceError("argument_invalid", `The price of ${host} on ${rail} is not known: ${remedy}`);
}

/** With several facilitators any of them may settle. */
function dearest(settlements: readonly Settlement[]): Settlement {
  return settlements.reduce((most, one) => (one.fee > most.fee ? one : most));
}

import { type Finding, fail, ok, unread } from "../../health/finding.ts";
import { systemClock } from "../../lib/clock.ts";
import type { RailKind } from "../../payment/rails/rail-kind.ts";
import { RAILS } from "../../payment/rails/registry.ts";
import type { Check, Examined } from "./examined.ts";

/** Checks the enabled rails: their payees on their chains, and USDC's name and version on Base. */
export const checkPayees: Check = async (examined) => {
  const found = await Promise.all(
    RAILS.map(async (kind) => {
      const setting = `rails.${kind.name}.pay_to`;
      const own = examined.config.rails[kind.name];
      return own
        ? checkPayee(kind, own.payTo, examined)
        : [ok(`${setting} is not set: nothing is sold on ${kind.name}.`)];
    }),
  );
  return found.flat();
};

async function checkPayee(
  kind: RailKind,
  payTo: string,
  { config, nodes, ledger, signal }: Examined,
): Promise<Finding[]> {
  const setting = `rails.${kind.name}.pay_to`;
  try {
    const rail = await kind.open(nodes.rail(kind), { config, rounds: ledger.rounds, clock: systemClock, signal });
    const fault = await rail.payeeFault(payTo, signal);
    if (fault !== undefined) return [fail(`${setting} ${fault}. Nothing can be paid to ${payTo} until that is fixed.`)];
    const { name, version } = rail.extra;
    const asset = name === undefined ? "USDC" : `USDC ("${name}", version ${version})`;
    return [ok(`${setting}: ${payTo} can be paid ${asset}.`)];
  } catch (error) {
    return [unread(`${setting}: ${payTo}`, error)];
  }
}

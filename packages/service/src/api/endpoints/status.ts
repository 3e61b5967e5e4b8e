import type { KeyHistory } from "@attestd/proof";
import type { z } from "zod";
import { VERSION } from "../../catalogue/about.ts";
import type { Status } from "../../catalogue/schemas/reports.ts";
import type { ChainName } from "../../chains/chain.ts";
import type { Rounds } from "../../ledger/ledger.ts";
import type { Offers } from "../../payment/offers.ts";
import { saleOn } from "../../payment/sale.ts";
import type { Readiness } from "./readiness.ts";

export type StatusParts = {
  readiness: Readiness;
  history: KeyHistory;
  rounds: Pick<Rounds, "latest" | "latestAt">;
  offers: Pick<Offers, "status" | "termsFor">;
  chains: readonly ChainName[];
  origin: string;
  sandbox: boolean;
  contact: string | undefined;
};

/** `/status`: what the service knows about itself. It asks no upstream. */
export function statusOf(parts: StatusParts): z.infer<typeof Status> {
  const { readiness, history, rounds, offers, chains, origin, sandbox, contact } = parts;
  const key = history.keys.at(-1);
  if (!key) throw new Error("the key history is empty");
  return {
    status: readiness.ready ? "pass" : "fail",
    reasons: readiness.reasons,
    version: VERSION,
    origin,
    sandbox,
    ...(contact !== undefined && { contact }),
    attestor: { kid: key.kid, algorandAddress: key.algorandAddress, fromRound: key.fromRound },
    ledger: { network: history.ledger, round: rounds.latest(), seenAt: new Date(rounds.latestAt()).toISOString() },
    chains: chains.map((chain) => ({ chain, networks: offers.termsFor(saleOn(chain)).map(({ network }) => network) })),
    networks: offers.status().map(({ option: { network, priceUsdc }, unavailableReason }) => ({
      network,
      priceUsdc,
      ...(unavailableReason !== undefined && { obstacle: unavailableReason }),
    })),
  };
}

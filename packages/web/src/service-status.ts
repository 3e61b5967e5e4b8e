import { ALGORAND_MAINNET } from "@attestd/proof";
import { railLabel } from "@attestd/proof/rails";

/** `/status` of the service that serves the page. */
export type ServiceStatus = {
  status: "pass" | "fail";
  reasons: string[];
  version: string;
  origin: string;
  sandbox: boolean;
  /** A mailto: or https: URI. */
  contact?: string;
  attestor: { kid: string; algorandAddress: string; fromRound: number };
  /** `seenAt`: ISO 8601. */
  ledger: { network: string; round: number; seenAt: string };
  chains: { chain: string; networks: string[] }[];
  networks: { network: string; priceUsdc: string; obstacle?: string }[];
};

/** Returns the price in words: `0.001 USDC on Algorand or Base`, or each network's own. */
export function priceText({ networks }: Pick<ServiceStatus, "networks">): string {
  const byPrice = Map.groupBy(networks, ({ priceUsdc }) => priceUsdc);
  const texts = [...byPrice].map(
    ([price, of]) => `${price} USDC on ${listed(of.map(({ network }) => railLabel(network)))}`,
  );
  return texts.join("; ");
}

/** Joins items: `one, two or three`. */
export function listed(items: readonly string[]): string {
  return new Intl.ListFormat("en", { type: "disjunction" }).format([...new Set(items)]);
}

/** Whether a ledger (CAIP-2) is a sandbox's. */
export function isSandbox(ledger: string | undefined): boolean {
  return ledger !== undefined && ledger !== ALGORAND_MAINNET;
}

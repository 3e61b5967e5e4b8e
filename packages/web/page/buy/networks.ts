import { fetchJson } from "../site.ts";
import { given } from "./refusal.ts";

/* What the service says of the networks: the page asks nobody else. */

export type AlgorandNow = {
  genesisId: string;
  /** Base64. */
  genesisHash: string;
  round: number;
  /** microAlgos. */
  minFee: number;
  feePerByte: number;
};
export type SolanaNow = { blockhash: string; lastValidBlockHeight: number };

/** What a payment must name to be valid now. @throws WalletRefusal when the service does not say */
export async function networkNow<N extends AlgorandNow | SolanaNow>(network: string): Promise<N> {
  return given(await fetchJson<N>(`/networks/${network}`), "this site doesn't know what the network needs now");
}

/** As `PayingWallet.balance`. */
export async function balanceOf(network: string, address: string): Promise<bigint | "none" | undefined> {
  const answer = await fetchJson<{ usdc: string | null }>(`/networks/${network}/balances/${address}`);
  if (!answer) return undefined;
  return answer.usdc === null ? "none" : BigInt(answer.usdc);
}

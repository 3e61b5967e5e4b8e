import type { RailName } from "./rails.ts";

/** The kinds of nodes. Facilitators are not among them: they are paid by settlement. */
export const UPSTREAMS = ["algod", "indexer", "base", "solana"] as const;
export type Upstream = (typeof UPSTREAMS)[number];
export type Requests = Readonly<Partial<Record<Upstream, bigint>>>;

/**
 * Requests of one call to one node of each kind: until its bundle is delivered, and until its payment is final. Where
 * nodes must agree, each gets as many. `strangers.test.ts` counts the first; the looks at a delivered payment are
 * after 15 s, and then after twice as long each time: one look of 5 requests on Solana, and on Base in 20 minutes seven of 4.
 */
export const CALL_REQUESTS: readonly { rail: RailName; source: string; bundle: Requests; final: Requests }[] = [
  { rail: "algorand", source: "algorand", bundle: { algod: 6n, indexer: 1n }, final: {} },
  { rail: "algorand", source: "base", bundle: { algod: 4n, base: 6n }, final: {} },
  { rail: "base", source: "base", bundle: { algod: 2n, base: 11n }, final: { base: 28n } },
  { rail: "solana", source: "base", bundle: { algod: 2n, base: 6n, solana: 6n }, final: { solana: 5n } },
];

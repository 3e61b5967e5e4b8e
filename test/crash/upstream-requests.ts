import type { Upstream } from "./deployment.ts";
import type { Fault, Match, ProxiedResponse } from "./fault-proxy.ts";
import type { End } from "./judge.ts";
import type { RailName, Validity } from "./payers.ts";

/** A request to an upstream for a purchase, and its faults. */
export type UpstreamRequest = {
  upstream: Upstream;
  match: Match;
  /** The chain of the subject, and the rail of the payment. */
  source: "algorand" | "base";
  rail: RailName;
  /** Problems that the buyer may get before the bundle; none if the request follows the settlement. */
  refusals: readonly string[];
  /** Whether it is sent only if the facilitator names no transaction. */
  withoutTransaction?: true;
  /** A complete answer with wrong data. */
  wrong: Fault;
  /** An older answer; absent if it would be the same as the current one. */
  stale?: { fault: Fault; match?: Match; to?: number; validity?: Validity; end?: End };
};

const json = (status: number, value: unknown): ((response: ProxiedResponse) => ProxiedResponse) => {
  const body = Buffer.from(JSON.stringify(value));
  return () => ({ status, headers: { "content-type": "application/json" }, body });
};
/** Changes the JSON of an answer. */
const edited =
  (edit: (value: never) => unknown) =>
  (response: ProxiedResponse): ProxiedResponse => ({
    ...response,
    body: Buffer.from(JSON.stringify(edit(JSON.parse(response.body.toString("utf8")) as never))),
  });
const rpcResult = (result: unknown): Fault => ({
  kind: "wrong",
  change: edited((answer: object) => ({ ...answer, result })),
});
const withoutNumbers = ({ path }: { path: string }) => path.replace(/\d+/, "N");

/** The selector of `authorizationState(address,bytes32)`. */
const AUTHORIZATION_STATE = "0xe94a0102";
const FALSE = `0x${"0".repeat(64)}`;
const OVERSPEND = "TransactionPool.Remember: transaction A: overspend (account B, data {}, tried to spend {1000})";
const SOURCE_UNAVAILABLE = ["providers_unavailable", "providers_conflict"];

/** A facilitator that settles and names no transaction, as some do. */
export const WITHOUT_TRANSACTION: Fault = {
  kind: "wrong",
  change: edited((answer: object) => ({ ...answer, transaction: "" })),
};

export const UPSTREAM_REQUESTS = {
  verify: {
    upstream: "facilitator",
    match: { path: /^\/verify$/ },
    source: "base",
    rail: "algorand",
    refusals: ["facilitator_unavailable"],
    wrong: { kind: "wrong", change: json(200, { isValid: "yes" }) },
  },
  settle: {
    upstream: "facilitator",
    match: { path: /^\/settle$/ },
    source: "base",
    rail: "algorand",
    refusals: [],
    // It settles and answers that it has not.
    wrong: { kind: "wrong", change: json(200, { success: false, errorReason: "settlement_failed" }) },
    // It never settles, and returns the receipt of another payment.
    stale: {
      to: Number.POSITIVE_INFINITY,
      fault: { kind: "error", side: "before", status: 200, body: JSON.stringify({ success: true, transaction: "A" }) },
      validity: "short",
      end: "void",
    },
  },
  submit: {
    upstream: "algod",
    match: { method: "POST", path: /^\/v2\/transactions$/ },
    source: "base",
    rail: "algorand",
    refusals: [],
    // It accepts the transaction and answers that it has not.
    wrong: { kind: "wrong", change: json(400, { message: OVERSPEND }) },
    // It does not accept the transaction, and returns the id of another one.
    stale: { fault: { kind: "error", side: "before", status: 200, body: JSON.stringify({ txId: "A".repeat(52) }) } },
  },
  params: {
    upstream: "algod",
    match: { path: /^\/v2\/transactions\/params$/ },
    source: "base",
    rail: "base",
    refusals: [],
    wrong: { kind: "wrong", change: edited((params: object) => ({ ...params, "genesis-hash": "A".repeat(44) })) },
  },
  block: {
    upstream: "algod",
    match: { path: /^\/v2\/blocks\/\d+\?format=msgpack$/ },
    source: "base",
    rail: "algorand",
    refusals: [],
    // The first half of the block, with a matching length.
    wrong: {
      kind: "wrong",
      change: (answer) => ({ ...answer, body: answer.body.subarray(0, answer.body.length / 2) }),
    },
    stale: { fault: { kind: "stale", like: withoutNumbers } },
  },
  round: {
    upstream: "algod",
    match: { path: /^\/v2\/status\/wait-for-block-after\/\d+$/ },
    source: "base",
    rail: "algorand",
    refusals: [],
    wrong: { kind: "wrong", change: edited((status: object) => ({ ...status, "last-round": "soon" })) },
    stale: { fault: { kind: "stale", like: withoutNumbers }, to: 3 },
  },
  search: {
    upstream: "indexer",
    match: { path: /^\/v2\/transactions\?txid=/ },
    source: "algorand",
    rail: "algorand",
    refusals: SOURCE_UNAVAILABLE,
    wrong: {
      kind: "wrong",
      change: edited(({ transactions: [found], ...rest }: { transactions: { "confirmed-round": number }[] }) => ({
        ...rest,
        transactions: [{ ...found, "confirmed-round": (found?.["confirmed-round"] ?? 0) + 1 }],
      })),
    },
    // An answer from before the transaction was confirmed; a 404 would be a current answer.
    stale: {
      fault: { kind: "wrong", change: edited((found: object) => ({ ...found, "current-round": 1, transactions: [] })) },
    },
  },
  receipt: {
    upstream: "base",
    match: { rpc: "eth_getTransactionReceipt" },
    source: "base",
    rail: "algorand",
    refusals: SOURCE_UNAVAILABLE,
    wrong: {
      kind: "wrong",
      change: edited(({ result, ...rest }: { result: object }) => ({
        ...rest,
        result: { ...result, blockHash: `0x${"1".repeat(64)}` },
      })),
    },
  },
  state: {
    upstream: "base",
    match: { rpc: "eth_call", body: AUTHORIZATION_STATE },
    source: "base",
    rail: "base",
    refusals: [],
    withoutTransaction: true,
    // The authorization was used, and the node answers that it was not.
    wrong: rpcResult(FALSE),
    stale: { fault: { kind: "stale" }, match: { rpc: "eth_getBlockByNumber", body: '"latest"' }, to: 2 },
  },
  logs: {
    upstream: "base",
    match: { rpc: "eth_getLogs" },
    source: "base",
    rail: "base",
    refusals: [],
    withoutTransaction: true,
    wrong: rpcResult([]),
  },
  landed: {
    upstream: "solana",
    match: { rpc: "getSignaturesForAddress" },
    source: "base",
    rail: "solana",
    refusals: [],
    wrong: rpcResult([{ signature: 1 }]),
    stale: { fault: rpcResult([]) },
  },
} as const satisfies Record<string, UpstreamRequest>;

export type UpstreamRequestName = keyof typeof UPSTREAM_REQUESTS;
export const UPSTREAM_REQUEST_NAMES = Object.keys(UPSTREAM_REQUESTS) as UpstreamRequestName[];

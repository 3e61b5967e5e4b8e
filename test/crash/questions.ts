import type { Upstream } from "./deployment.ts";
import type { Fault, Match, ProxiedResponse } from "./fault-proxy.ts";
import type { End } from "./judge.ts";
import type { Life, RailName } from "./payers.ts";

/** Something that is asked of an upstream for a purchase. */
export type Question = {
  upstream: Upstream;
  match: Match;
  /** What is bought, and how it is paid. */
  source: "algorand" | "base";
  rail: RailName;
  /** Problems that the buyer is told of first; none where the question is asked after the money has moved. */
  refusals: readonly string[];
  /** An answer that is whole and says something else. */
  wrong: Fault;
  /** An answer from before; absent where it would be no other than that of now. */
  stale?: { fault: Fault; match?: Match; to?: number; life?: Life; end?: End };
};

const json = (status: number, value: unknown): ((response: ProxiedResponse) => ProxiedResponse) => {
  const body = Buffer.from(JSON.stringify(value));
  return () => ({ status, headers: { "content-type": "application/json" }, body });
};
/** The JSON of the answer, changed. */
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
const UNREAD = ["providers_unavailable", "providers_conflict"];

export const QUESTIONS = {
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
    // It has settled, and says that it has not.
    wrong: { kind: "wrong", change: json(200, { success: false, errorReason: "settlement_failed" }) },
    // It never does, and gives the receipt of another.
    stale: {
      to: Number.POSITIVE_INFINITY,
      fault: { kind: "error", side: "before", status: 200, body: JSON.stringify({ success: true, transaction: "A" }) },
      life: "short",
      end: "void",
    },
  },
  submit: {
    upstream: "algod",
    match: { method: "POST", path: /^\/v2\/transactions$/ },
    source: "base",
    rail: "algorand",
    refusals: [],
    // It has taken the transaction, and says that it has not.
    wrong: { kind: "wrong", change: json(400, { message: OVERSPEND }) },
    // It has not, and gives the id of another.
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
    // Half of it, as if that were all.
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
    refusals: UNREAD,
    wrong: {
      kind: "wrong",
      change: edited(({ transactions: [found], ...rest }: { transactions: { "confirmed-round": number }[] }) => ({
        ...rest,
        transactions: [{ ...found, "confirmed-round": (found?.["confirmed-round"] ?? 0) + 1 }],
      })),
    },
    // From before the transaction was there: never a 404, which would be about now.
    stale: {
      fault: { kind: "wrong", change: edited((found: object) => ({ ...found, "current-round": 1, transactions: [] })) },
    },
  },
  receipt: {
    upstream: "base",
    match: { rpc: "eth_getTransactionReceipt" },
    source: "base",
    rail: "algorand",
    refusals: UNREAD,
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
    // The authorization was used, and the node says that it was not.
    wrong: rpcResult(FALSE),
    stale: { fault: { kind: "stale" }, match: { rpc: "eth_getBlockByNumber", body: '"latest"' }, to: 2 },
  },
  logs: {
    upstream: "base",
    match: { rpc: "eth_getLogs" },
    source: "base",
    rail: "base",
    refusals: [],
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
} as const satisfies Record<string, Question>;

export type QuestionName = keyof typeof QUESTIONS;
export const QUESTION_NAMES = Object.keys(QUESTIONS) as QuestionName[];

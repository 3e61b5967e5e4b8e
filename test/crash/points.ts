import type { CommitName, CommitPoint } from "./commits.ts";
import type { Deployment, Upstream } from "./deployment.ts";
import type { Match, Rule } from "./fault-proxy.ts";
import type { End } from "./judge.ts";
import type { RailName, Validity } from "./payers.ts";

/** A course of events that leads to a commit or an effect before the process is killed. */
export type Scenario = {
  story: string;
  end: End;
  /** Rails on which it can happen; `elsewhere` is the reason for the others. */
  rails: readonly RailName[];
  elsewhere?: string;
  validity?: Validity;
  /** The last commit, if it follows the end of the purchase. */
  last?: CommitName;
  /** A call sent through a proxy beforehand, whose answer the `stale` fault then returns. */
  seen?: { upstream: Upstream; rpc: { method: string; params: unknown[] } };
  rules(): { upstream: Upstream; rule: Rule }[];
};

/** A request that a process sends for a purchase, or its answer to the buyer. */
export type EffectName = "verify" | "settle" | "submit" | "answer";

/**
 * `before`: the request is never sent. `after`: it has had its effect, and the answer is lost. `late`: it was sent, and
 * has its effect only after another process has taken over the call.
 */
export type EffectPoint = { effect: EffectName; nth: number; side: "before" | "after" | "late" };

/** The point at which a process is killed. */
export type Point = { scenario: ScenarioName } & (CommitPoint | EffectPoint);

const SETTLE: Match = { path: /^\/settle$/ };
const SUBMIT: Match = { method: "POST", path: /^\/v2\/transactions$/ };
const UNDERFUNDED = {
  message: "TransactionPool.Remember: transaction A: overspend (account B, data {}, tried to spend {1000})",
};
const EVERY_RAIL: readonly RailName[] = ["algorand", "base", "solana"];

export const EFFECTS: Record<Exclude<EffectName, "answer">, { upstream: Upstream; match: Match }> = {
  verify: { upstream: "facilitator", match: { path: /^\/verify$/ } },
  settle: { upstream: "facilitator", match: SETTLE },
  submit: { upstream: "algod", match: SUBMIT },
};

export const SCENARIOS = {
  plain: {
    story: "nothing else goes wrong",
    end: "delivered",
    rails: EVERY_RAIL,
    rules: () => [],
  },
  settled_again: {
    story: "the facilitator fails at the first settlement, which never reaches the chain",
    end: "delivered",
    rails: EVERY_RAIL,
    rules: () => [
      { upstream: "facilitator", rule: { match: SETTLE, to: 1, fault: { kind: "error", side: "before" } } },
    ],
  },
  expired: {
    story: "no settlement ever reaches the chain, until the payment expires",
    end: "void",
    rails: EVERY_RAIL,
    validity: "short",
    rules: () => [{ upstream: "facilitator", rule: { match: SETTLE, fault: { kind: "error", side: "before" } } }],
  },
  blocked: {
    story: "algod first answers that the attestor cannot pay",
    end: "delivered",
    rails: EVERY_RAIL,
    rules: () => [
      {
        upstream: "algod",
        rule: {
          match: SUBMIT,
          to: 1,
          fault: { kind: "error", side: "before", status: 400, body: JSON.stringify(UNDERFUNDED) },
        },
      },
    ],
  },
  lost: {
    story: "algod accepts the attestation and loses it until its last valid round has passed",
    end: "delivered",
    rails: ["algorand"],
    elsewhere: "the rail of the payment makes no difference at that point",
    rules: () => {
      let first: Buffer | undefined;
      const isFirst = (body: Buffer) => {
        first ??= body;
        return first.equals(body);
      };
      const fault = {
        kind: "error",
        side: "before",
        status: 200,
        body: JSON.stringify({ txId: "A".repeat(52) }),
      } as const;
      return [{ upstream: "algod", rule: { match: { ...SUBMIT, body: isFirst }, fault } }];
    },
  },
  watched: {
    story: "the payment is checked again until it is final",
    end: "delivered",
    rails: ["base", "solana"],
    elsewhere: "a round of Algorand is final at once",
    last: "payment_seen_again",
    // On a slow machine the payment could be final at the first check, without a second one. Four requests are stale: for
    // the evidence, the proof of the payment and the checks after it.
    seen: { upstream: "base", rpc: { method: "eth_getBlockByNumber", params: ["finalized", false] } },
    rules: () => [
      {
        upstream: "base",
        rule: { match: { rpc: "eth_getBlockByNumber", body: '"finalized"' }, to: 4, fault: { kind: "stale" } },
      },
    ],
  },
} as const satisfies Record<string, Scenario>;

export type ScenarioName = keyof typeof SCENARIOS;

const EACH_SIDE = ["before", "during", "after"] as const;
const BOTH_SIDES = ["before", "after"] as const;

const commit = (scenario: ScenarioName, name: CommitName, sides: readonly CommitPoint["side"][], nth = 1): Point[] =>
  sides.map((side) => ({ scenario, commit: name, nth, side }));
const effect = (scenario: ScenarioName, name: EffectName, sides: readonly EffectPoint["side"][], nth = 1): Point[] =>
  sides.map((side) => ({ scenario, effect: name, nth, side }));

/** Every commit and every effect of a call, in order. */
export const POINTS: readonly Point[] = [
  ...effect("plain", "verify", BOTH_SIDES),
  ...commit("plain", "call_begun", EACH_SIDE),
  ...effect("plain", "settle", ["before", "after", "late"]),
  ...commit("plain", "attestation_signed", EACH_SIDE),
  ...effect("plain", "submit", ["before", "after", "late"]),
  ...commit("plain", "bundle_sealed", EACH_SIDE),
  ...effect("plain", "answer", BOTH_SIDES),
  ...commit("settled_again", "settlement_begun", BOTH_SIDES),
  ...effect("settled_again", "settle", ["before", "after", "late"], 2),
  ...commit("expired", "payment_void", BOTH_SIDES),
  ...commit("blocked", "attestation_blocked", BOTH_SIDES),
  ...commit("lost", "attestation_dead", BOTH_SIDES),
  ...commit("lost", "attestation_signed", BOTH_SIDES, 2),
  ...commit("watched", "payment_seen_again", BOTH_SIDES),
];

/** The name in the tables: `call_begun during`, `settle after, the 2nd`. */
export function nameOf(point: Point): string {
  const what = "commit" in point ? point.commit : point.effect;
  return `${what} ${point.side}${point.nth > 1 ? `, the ${point.nth}nd` : ""}`;
}

/** Adds the rules of a scenario to a deployment's proxies. */
export async function applyScenario({ proxies }: Deployment, name: ScenarioName): Promise<void> {
  const { rules, seen }: Scenario = SCENARIOS[name];
  if (seen) {
    const headers = { "content-type": "application/json" };
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, ...seen.rpc });
    await (await fetch(proxies[seen.upstream].url, { method: "POST", headers, body })).text();
  }
  for (const { upstream, rule } of rules()) proxies[upstream].add(rule);
}

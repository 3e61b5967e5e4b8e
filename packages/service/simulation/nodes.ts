import { unavailable } from "../src/providers/provider.ts";
import { agree, ended, type Question, type QuorumRules } from "../src/providers/quorum.ts";
import type { Faults, Upstream } from "./faults.ts";
import type { Ask } from "./network.ts";
import type { Random } from "./random.ts";
import type { Life, Scheduler } from "./scheduler.ts";

/** How the nodes of a chain fail, whatever the reason (providers/quorum.ts). */
export const NODES = {
  broken: () => unavailable("no node answers"),
  ended: (signal: AbortSignal) => ended(signal, "a chain"),
};
/** What a node is like until everything heals. */
export type Temper = "honest" | "lies" | "lags" | "away";

/** The nodes of one chain, as every process names them in its settings. */
export type NodeList = readonly { readonly name: string; readonly temper: Temper }[];

/** The questions of a chain: those about payments on it, to the ledger, and for sources. */
export const LISTS = ["algorand", "base", "solana", "ledger", "sources"] as const;
export type ListName = (typeof LISTS)[number];

/** Every way in which the nodes of one chain may fail, of which no majority lies. */
const LINE_UPS: readonly (readonly Temper[])[] = [
  ["away"],
  ["lags"],
  ["honest", "honest"],
  ["lies", "honest"],
  ["lies", "away"],
  ["lies", "lags"],
  ["honest", "lags"],
  ["honest", "away"],
  ["away", "away"],
  ["honest", "honest", "honest"],
  ["lies", "honest", "honest"],
  ["lies", "lags", "lags"],
  ["lies", "honest", "lags"],
  ["lies", "honest", "away"],
  ["honest", "honest", "away"],
  ["honest", "lags", "lags"],
  ["lags", "lags", "away"],
  ["lies", "away", "away"],
];
/** How likely a chain has other nodes than one that is honest. */
const SEVERAL = 0.25;
/** How far behind a node that lags is at most, in ms. */
export const LAG_MS = 3_000;

/** Draws the nodes of each chain. */
export function drawNodes(random: Random, count: (kind: string) => void): ReadonlyMap<ListName, NodeList> {
  return new Map(
    LISTS.map((list) => {
      const tempers = random.chance(SEVERAL) ? random.pick(LINE_UPS) : (["honest"] as const);
      if (tempers.length > 1 || tempers[0] !== "honest") count(`nodes: ${tempers.toSorted().join(", ")}`);
      return [list, tempers.map((temper, place) => ({ name: `${list}${place + 1}`, temper }))];
    }),
  );
}

/** How the answers of nodes are made one: the service's own `agree`, or a mistake in its place. */
export type Agree = typeof agree;

export type NodesOptions = {
  life: Life;
  nodes: ReadonlyMap<ListName, NodeList>;
  faults: Faults;
  scheduler: Scheduler;
  ask: Ask;
  /** Of what nodes lie about: apart from the course of a schedule, which is the same with one honest node. */
  lies: Random;
  agree?: Agree | undefined;
  rules?: Pick<QuorumRules, "quorum"> | undefined;
};

/** What a node answers a question from. */
export type Sight = {
  /** Unix ms up to which it has seen everything. */
  at: number;
  /** Unix ms. */
  now: number;
  /** Whether it makes its answer up. */
  lies: boolean;
};

/** A question to every node of a chain. */
export type ToNodes<T> = Question<T> & {
  list: ListName;
  to: Upstream;
  what: string;
  answer(sight: Sight): T;
};

/** What one process learns from the nodes of its chains: what as many agree on as must. */
export function nodesOf({
  life,
  nodes,
  faults,
  scheduler,
  ask,
  lies,
  agree: decide = agree,
  rules = {},
}: NodesOptions) {
  return {
    /** Whether a node of a chain may be behind now. */
    mayLag: (list: ListName) => !faults.healed && (nodes.get(list) ?? []).some(({ temper }) => temper === "lags"),

    /** @throws ProviderError; the signal's reason */
    agreeOn<T>({ list, to, what, about, answer, ...question }: ToNodes<T>): Promise<[T, ...T[]]> {
      const askNode = async ({ name, temper }: NodeList[number], signal: AbortSignal): Promise<T> => {
        const is = faults.healed ? "honest" : temper;
        if (is === "away") throw NODES.broken();
        const serve = (reply: (value: T) => void) => {
          const now = faults.healed ? "honest" : temper;
          const late = now === "lags" ? lies.below(LAG_MS) : 0;
          if (now === "lies") faults.count("a node lies");
          reply(answer({ at: scheduler.now - late, now: scheduler.now, lies: now === "lies" }));
        };
        const called = (nodes.get(list)?.length ?? 1) > 1 ? `${what} ${name}` : what;
        return ask<T>({ life, to, what: called, about, signal, serve, ...NODES });
      };
      return decide(nodes.get(list) ?? [], askNode, { about, ...question }, { onConflict: () => undefined, ...rules });
    },
  };
}

export type Nodes = ReturnType<typeof nodesOf>;

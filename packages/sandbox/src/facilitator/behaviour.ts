/** The operations of a facilitator. */
export const OPERATIONS = ["verify", "settle", "supported"] as const;
export type Operation = (typeof OPERATIONS)[number];

const ANY = OPERATIONS;
const PAYMENTS = ["verify", "settle"] as const;
const VERIFY = ["verify"] as const;
const SETTLE = ["settle"] as const;

/** A behaviour: the operations that may have it, and its argument, whose default makes it optional. */
type Row = {
  readonly of: readonly Operation[];
  readonly argument?: "milliseconds" | "reason";
  readonly byDefault?: string;
};

/** What a facilitator can be made to do instead of its kind's usual behaviour. */
const BEHAVIOURS = {
  /** Closes the connection without an answer; nothing is done. */
  away: { of: ANY },
  /** 401. */
  unauthorized: { of: ANY },
  /** 403: the free tier is used up. */
  exhausted: { of: ANY },
  /** 429. */
  limited: { of: ANY },
  /** 500. */
  failing: { of: ANY },
  /** Waits, and then does what was requested. */
  slow: { of: PAYMENTS, argument: "milliseconds", byDefault: "100000" },
  /** Answers no, with this reason; nothing is sent to the chain. */
  refused: { of: PAYMENTS, argument: "reason" },
  /** Answers no, keeps the payment, and settles it this much later. */
  kept: { of: VERIFY, argument: "milliseconds", byDefault: "6000" },
  /** Closes the connection without an answer, keeps the payment, and settles it this much later. */
  swallowed: { of: VERIFY, argument: "milliseconds", byDefault: "6000" },
  /** Settles, and answers this much later. */
  late: { of: SETTLE, argument: "milliseconds", byDefault: "100000" },
  /** Settles, and closes the connection without an answer. */
  lost: { of: SETTLE },
  /** Answers `settlement_pending`; settles before that, or this much later if a time is given. */
  pending: { of: SETTLE, argument: "milliseconds", byDefault: "0" },
  /** Answers `settlement_pending`; nothing is ever sent to the chain. */
  unsent: { of: SETTLE },
  /** Answers success with a transaction that does not exist; nothing is sent to the chain. */
  claimed: { of: SETTLE },
  /** Settles, and answers success with an empty `transaction`. */
  empty: { of: SETTLE },
  /** Settles, and answers that it failed, with this reason. */
  denied: { of: SETTLE, argument: "reason" },
  /** 409 `duplicate_settlement`; nothing is sent to the chain. */
  duplicate: { of: SETTLE },
} as const satisfies Record<string, Row>;

export type BehaviourName = keyof typeof BEHAVIOURS;

export interface Behaviour {
  name: BehaviourName;
  /** For `slow`, `kept`, `swallowed`, `late` and `pending`; 0 for others. */
  milliseconds: number;
  /** For `refused` and `denied`; empty for others. */
  reason: string;
}

/** Behaviours on demand: each operation has at most one, for all its requests or for the next few. */
export type Behaviours = ReturnType<typeof createBehaviours>;

const MAX_MILLISECONDS = 600_000;
const MAX_TIMES = 1_000_000;
const MAX_LENGTH = 1_000;
const ENTRY = /^(\w+)=(\w+)(?::([\w.-]{1,100}))?(?:\*(\d{1,7}))?$/;

type Entry = Behaviour & { text: string; times: number };

/** @throws {Error} as `Behaviours.set` does */
export function createBehaviours(text = "") {
  let entries = parse(text);
  return {
    /**
     * Replaces all behaviours with those of a text: `OPERATION=NAME[:ARGUMENT][*TIMES]`, comma-separated, such as
     * `settle=pending:2000*1,verify=limited`. An empty text removes them.
     * @throws {Error} naming what is wrong in the text; nothing is replaced then
     */
    set(replacement: string): void {
      entries = parse(replacement);
    },
    /** Returns the behaviour for a request that has just come, which counts as one of its times. */
    take(operation: Operation): Behaviour | undefined {
      const entry = entries.get(operation);
      if (entry === undefined) return undefined;
      entry.times -= 1;
      if (entry.times === 0) entries.delete(operation);
      return entry;
    },
    /** In the format of `set`, with the remaining times. */
    toString: () => [...entries].map(([operation, entry]) => `${operation}=${written(entry)}`).join(","),
  };
}

function written({ text, times }: Entry): string {
  return Number.isFinite(times) ? `${text}*${times}` : text;
}

function parse(text: string): Map<Operation, Entry> {
  if (text.length > MAX_LENGTH) throw new Error(`a behaviour has more than ${MAX_LENGTH} characters`);
  const entries = new Map<Operation, Entry>();
  for (const part of text.split(",").filter((one) => one.trim() !== "")) {
    const [operation, entry] = parseEntry(part.trim());
    if (entries.has(operation)) throw new Error(`${operation} has two behaviours`);
    entries.set(operation, entry);
  }
  return entries;
}

function parseEntry(part: string): [Operation, Entry] {
  const match = ENTRY.exec(part);
  if (match === null) throw new Error(`${part} is not OPERATION=NAME[:ARGUMENT][*TIMES]`);
  const [, asked = "", name = "", argument, count] = match;
  const operation = OPERATIONS.find((one) => one === asked);
  if (operation === undefined) throw new Error(`${asked} is not one of ${OPERATIONS.join(", ")}`);
  if (!isName(name)) throw new Error(`${name} is not one of ${Object.keys(BEHAVIOURS).join(", ")}`);
  const row: Row = BEHAVIOURS[name];
  if (!row.of.includes(operation)) throw new Error(`${name} is no behaviour of ${operation}`);
  const given = argument ?? row.byDefault;
  if (row.argument === undefined && argument !== undefined) throw new Error(`${name} takes no argument`);
  if (row.argument !== undefined && given === undefined) throw new Error(`${name} needs its ${row.argument}`);
  const milliseconds = row.argument === "milliseconds" ? Number(given) : 0;
  if (!(milliseconds <= MAX_MILLISECONDS)) throw new Error(`${given} is no time up to ${MAX_MILLISECONDS} ms`);
  const times = count === undefined ? Number.POSITIVE_INFINITY : Number(count);
  if (count !== undefined && (times < 1 || times > MAX_TIMES))
    throw new Error(`${count} is not 1 to ${MAX_TIMES} times`);
  const reason = row.argument === "reason" ? (given ?? "") : "";
  const shown = argument === undefined ? name : `${name}:${argument}`;
  return [operation, { name, milliseconds, reason, text: shown, times }];
}

function isName(text: string): text is BehaviourName {
  return Object.hasOwn(BEHAVIOURS, text);
}

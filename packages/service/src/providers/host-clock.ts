import { BlockList, isIP } from "node:net";

/** The headers of an answer that show the time at its host. */
export type DatedAnswer = {
  /** `Date` (RFC 9110, section 6.6.1): whole seconds. */
  date: string | undefined;
  /** `Age` (RFC 9111, section 5.1): the answer comes from a cache, with its original `Date`. */
  age: string | undefined;
  /** The address that sent the answer. */
  address: string | undefined;
};

/** What other clocks show about this host's clock. */
export type ClockComparison = {
  /**
   * `right`: the median clock agrees. `wrong`: the median of at least two differs so much that payments are refused or
   * misjudged. `doubtful`: it differs by less, or half of them differ, or the only one does. `unknown`: nothing is
   * known now.
   */
  verdict: "right" | "doubtful" | "wrong" | "unknown";
  /** How far this host's clock is ahead, in ms; negative if it is behind. */
  aheadMs: number;
  /** The clocks that show this. */
  by: readonly string[];
  /** How many were compared. */
  of: number;
};

/**
 * The difference that counts as wrong: about 30 s, by which a token is dated back, or which must be left of a payment's
 * validity, less the time for transport.
 */
export const MAX_SKEW_MS = 25_000;
/**
 * The uncertainty of `Date`, in whole seconds, and transport. A clock that NTP synchronizes never differs by this much.
 */
const FEW_SECONDS_MS = 5_000;
/** How long an answer counts, in ms: every upstream is asked each 15 s. */
const FRESH_MS = 60_000;
/** For a slower answer it is unknown when its host wrote the date. */
const MAX_ELAPSED_MS = 5_000;
/**
 * How far wall clock and monotonic clock may drift apart, in ms, before the wall clock counts as set, or the machine as
 * having slept.
 */
const MAX_PARTING_MS = 1_000;
/**
 * The greatest age of the newest block when it is read, in ms: MainNet's rounds take 3 s, and their times are those of
 * their beginning.
 */
const MAX_BLOCK_AGE_MS = 10_000;
/** How long blocks must have come steadily, in ms, before they count. */
const STEADY_MS = 20_000;

/** A moment on both clocks of this host, in ms. */
type Moment = { wall: number; monotonic: number };
/** How far this host's clock is ahead of another, at least and at most, in ms. */
type Range = { least: number; most: number };
type Sample = Range & { at: Moment; isNear: boolean };

/**
 * Compares this host's clock with those of its upstreams, using what they answer anyway: the `Date` of every answer,
 * and the times of the ledger's blocks.
 *
 * Nothing is measured across a step of the clock or a sleep of the machine: earlier observations no longer count. An
 * old newest block alone shows nothing, because the chain may have halted. Blocks count while they come steadily, each
 * as old as the previous one: after a halt, or while a node catches up, their ages change.
 * @param now Unix ms
 * @param monotonic ms; it may stand still while the machine sleeps
 */
export function createHostClock({ now, monotonic }: { now: () => number; monotonic: () => number }) {
  const samples = new Map<string, Sample>();
  /** The period in which blocks have come steadily, and their age. */
  let steady: { since: Moment; age: number } | undefined;

  const moment = (): Moment => ({ wall: now(), monotonic: monotonic() });
  const isUnbroken = (from: Moment, to: Moment) =>
    Math.abs(to.wall - from.wall - (to.monotonic - from.monotonic)) <= MAX_PARTING_MS;

  return {
    /**
     * Called when a request is sent.
     * @returns takes the data of the answer's first bytes, when they come
     */
    begin(): (host: string, answer: DatedAnswer) => void {
      const sent = moment();
      return (host, { date, age, address }) => {
        const at = moment();
        const time = Date.parse(date ?? "");
        const isCached = age !== undefined && age !== "0";
        const isLate = at.monotonic - sent.monotonic > MAX_ELAPSED_MS;
        if (Number.isNaN(time) || isCached || isLate || !isUnbroken(sent, at)) return;
        const range = { least: sent.wall - (time + 1_000), most: at.wall - time };
        samples.set(host, { ...range, at, isNear: isNear(address) });
      };
    },

    /**
     * Notes the time in a chain's newest block, when it is read. @param time Unix ms. @param chain a name for the chain
     */
    noteBlock(chain: string, time: number): void {
      const at = moment();
      const age = at.wall - time;
      const isInStep =
        steady !== undefined && isUnbroken(steady.since, at) && Math.abs(age - steady.age) <= MAX_BLOCK_AGE_MS;
      if (!steady || !isInStep) steady = { since: at, age };
      if (at.monotonic - steady.since.monotonic < STEADY_MS) samples.delete(chain);
      else samples.set(chain, { least: age - MAX_BLOCK_AGE_MS, most: age, at, isNear: false });
    },

    /** Forgets what was seen. */
    forget(): void {
      samples.clear();
      steady = undefined;
    },

    compare(): ClockComparison {
      const at = moment();
      for (const [host, sample] of samples)
        if (at.monotonic - sample.at.monotonic > FRESH_MS || !isUnbroken(sample.at, at)) samples.delete(host);
      return judge([...samples].map(([host, sample]) => ({ host, ahead: leastOf(sample), isNear: sample.isNear })));
    },
  };
}

export type HostClock = ReturnType<typeof createHostClock>;

/** The clock comparison of this process, which every exchange with an upstream updates. */
export const hostClock = createHostClock({ now: Date.now, monotonic: () => performance.now() });

/** Returns the least possible difference, in ms. */
function leastOf({ least, most }: Range): number {
  if (least > 0) return least;
  return most < 0 ? most : 0;
}

type Compared = { host: string; ahead: number; isNear: boolean };

/**
 * Judges by the median, so that a single host, wrong or lying, decides nothing. Of two medians the one that differs
 * less counts. A nearby host that agrees does not count, because it may have the same clock as this one.
 */
function judge(all: readonly Compared[]): ClockComparison {
  const others = all.filter(({ ahead, isNear }) => !isNear || Math.abs(ahead) >= FEW_SECONDS_MS);
  const sorted = others.map(({ ahead }) => ahead).toSorted((a, b) => a - b);
  const of = sorted.length;
  if (of === 0) {
    const by = all.map(({ host }) => host);
    return { verdict: by.length > 0 ? "right" : "unknown", aheadMs: 0, by, of: by.length };
  }
  const [low = 0, high = 0] = [sorted[(of - 1) >> 1], sorted[of >> 1]];
  const middle = leastOf({ least: low, most: high });
  const differ = (sign: number) => others.filter(({ ahead }) => sign * ahead >= FEW_SECONDS_MS);
  const showing = (aheadMs: number) => differ(Math.sign(aheadMs)).map(({ host }) => host);
  if (of > 1 && Math.abs(middle) >= MAX_SKEW_MS) return { verdict: "wrong", aheadMs: middle, by: showing(middle), of };
  if (Math.abs(middle) >= FEW_SECONDS_MS) return { verdict: "doubtful", aheadMs: middle, by: showing(middle), of };
  // Half of them differ, and nobody can tell which half is right.
  const half = [low, high].find((ahead) => Math.abs(ahead) >= FEW_SECONDS_MS);
  if (half !== undefined) return { verdict: "doubtful", aheadMs: half, by: showing(half), of };
  const agreeing = others.filter(({ ahead }) => Math.abs(ahead) < FEW_SECONDS_MS);
  return { verdict: "right", aheadMs: 0, by: agreeing.map(({ host }) => host), of };
}

const NEAR = new BlockList();
for (const [net, prefix] of [
  ["127.0.0.0", 8],
  ["10.0.0.0", 8],
  ["172.16.0.0", 12],
  ["192.168.0.0", 16],
  ["169.254.0.0", 16],
  ["100.64.0.0", 10],
] as const)
  NEAR.addSubnet(net, prefix, "ipv4");
for (const [net, prefix] of [
  ["::1", 128],
  ["fc00::", 7],
  ["fe80::", 10],
] as const)
  NEAR.addSubnet(net, prefix, "ipv6");

/** Whether an address belongs to this machine, or to a private network. */
function isNear(address: string | undefined): boolean {
  const plain = address?.replace(/^::ffff:(?=\d+\.)/i, "") ?? "";
  return NEAR.check(plain, isIP(plain) === 6 ? "ipv6" : "ipv4");
}

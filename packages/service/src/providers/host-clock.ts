import { BlockList, isIP } from "node:net";

/** An answer's headers, as far as they show the time at its host. */
export type DatedAnswer = {
  /** `Date` (RFC 9110, section 6.6.1): whole seconds. */
  date: string | undefined;
  /** `Age` (RFC 9111, section 5.1): a cache gave the answer, with the `Date` that it had before. */
  age: string | undefined;
  /** The address that gave the answer. */
  address: string | undefined;
};

/** What other clocks show of this host's. */
export type ClockComparison = {
  /**
   * `right`: the middle one of them agrees. `wrong`: the middle one of at least two differs by so much that payments are
   * refused or misjudged. `doubtful`: it differs by less, or half of them do, or the only one. `unknown`: nothing is known now.
   */
  verdict: "right" | "doubtful" | "wrong" | "unknown";
  /** By how much this host's clock is ahead, in ms; negative where it is behind. */
  aheadMs: number;
  /** The clocks that show this. */
  by: readonly string[];
  /** How many were compared. */
  of: number;
};

/** Half of the 30 s for which a token is dated back, or must be left of a payment's life, and a little for the way. */
export const MAX_SKEW_MS = 25_000;
/** What `Date`, in whole seconds, and the way take, and a clock that NTP keeps never has. */
const FEW_SECONDS_MS = 5_000;
/** How long an answer counts, in ms: every upstream is asked each 15 s. */
const FRESH_MS = 60_000;
/** Of an answer that took longer, it is not known when its host wrote the date. */
const MAX_ELAPSED_MS = 5_000;
/** By how much wall clock and monotonic clock may part, in ms, before the one was set, or the machine slept. */
const MAX_PARTING_MS = 1_000;
/** How old the newest block may be when it is read, in ms: MainNet's rounds take 3 s, and their times are of their beginning. */
const MAX_BLOCK_AGE_MS = 10_000;
/** How long blocks must have come in step with this host's clock, in ms, before they show anything. */
const STEADY_MS = 20_000;

/** A moment by both clocks of this host, in ms. */
type Moment = { wall: number; monotonic: number };
/** By how much this host's clock is ahead of another, at least and at most, in ms. */
type Range = { least: number; most: number };
type Sample = Range & { at: Moment; isNear: boolean };

/**
 * Compares this host's clock with those of its upstreams, by what they answer anyway: the `Date` of every answer, and the
 * times of the ledger's blocks.
 *
 * Nothing is measured across a step of the clock or a sleep of the machine: what was seen before it no longer counts. An old
 * newest block alone shows nothing, because the chain may have halted. Blocks count while they come steadily, each as old as
 * the one before: after a halt, or while a node catches up, their ages change.
 *
 * @param now Unix ms
 * @param monotonic ms; it may stand still while the machine sleeps
 */
export function createHostClock({ now, monotonic }: { now: () => number; monotonic: () => number }) {
  const samples = new Map<string, Sample>();
  /** The blocks since they last came in step. */
  let steady: { since: Moment; age: number } | undefined;

  const moment = (): Moment => ({ wall: now(), monotonic: monotonic() });
  const isUnbroken = (from: Moment, to: Moment) =>
    Math.abs(to.wall - from.wall - (to.monotonic - from.monotonic)) <= MAX_PARTING_MS;

  return {
    /**
     * To be called when a request is sent.
     *
     * @returns takes what the first bytes of its answer show, when they come
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

    /** Notes the time in a chain's newest block, when it is read. @param time Unix ms. @param chain a name for the chain */
    noteBlock(chain: string, time: number): void {
      const at = moment();
      const age = at.wall - time;
      const isInStep =
        steady !== undefined && isUnbroken(steady.since, at) && Math.abs(age - steady.age) <= MAX_BLOCK_AGE_MS;
      if (!steady || !isInStep) steady = { since: at, age };
      if (at.monotonic - steady.since.monotonic < STEADY_MS) samples.delete(chain);
      else samples.set(chain, { least: age - MAX_BLOCK_AGE_MS, most: age, at, isNear: false });
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

/** The one of this process, which every exchange with an upstream tells. */
export const hostClock = createHostClock({ now: Date.now, monotonic: () => performance.now() });

/** The difference that is sure, in ms. */
function leastOf({ least, most }: Range): number {
  if (least > 0) return least;
  return most < 0 ? most : 0;
}

type Compared = { host: string; ahead: number; isNear: boolean };

/**
 * Judges by the middle one, so that one host alone, wrong or lying, decides nothing. Of two in the middle the one that is
 * kinder to this host's clock counts. A host near by that agrees may have the same clock as this one, and does not count.
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

/** Whether an address is of this machine, or of a private network. */
function isNear(address: string | undefined): boolean {
  const plain = address?.replace(/^::ffff:(?=\d+\.)/i, "") ?? "";
  return NEAR.check(plain, isIP(plain) === 6 ? "ipv6" : "ipv4");
}

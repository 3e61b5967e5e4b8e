import { attestationsFor } from "../../calls/capacity.ts";
import type { RailName } from "../../payment/rails/rail.ts";
import { feesOf } from "../../signers/account-fees.ts";
import { CALL_REQUESTS, DAILY_REQUESTS, type Requests, type Upstream } from "./requests.ts";
import type { Settlement } from "./settlement.ts";
import { dividedUp, MICRO, type PicoUsd } from "./usd.ts";

/** Signatures of a call: the attestation transaction, the bundle, the receipt. */
const SIGNATURES = 3n;
/** Probes of both keys, each once a minute while no call is signed (signers/guard.ts). */
const PROBES_A_DAY = 2n * 1_440n;
/** Bytes of a call in the journal: its row, bundle and attestation (docs/operating/journal.md). */
const BYTES_A_CALL = 32n * 1024n;
/** Bytes that an item of a batch adds. */
const BYTES_AN_ITEM = 5n * 1024n;
const GIB = 2n ** 30n;
const DAYS_A_MONTH = 30n;

/**
 * microAlgos of an attestation: usually; when the ledger is congested, as much as the service ever pays; and with an
 * account that signs with Falcon-1024, which go-algorand v5.0.0 charges two minimum fees more.
 */
export const NOTE_FEES = {
  usual: feesOf("ed25519").minFee,
  congested: feesOf("ed25519").maxFee,
  falcon: feesOf("falcon-1024").minFee,
} as const;
export type NoteFee = keyof typeof NOTE_FEES;

export type CostInputs = {
  /** micro-USD for an ALGO. */
  algoPrice: bigint;
  /** What is sold, by rail; `price` in micro-USDC, which counts as as many micro-USD. */
  rails: readonly { rail: RailName; price: bigint; settlement: Settlement }[];
  /** A batch of so many items is sold instead of a single call; `itemPrice` in micro-USDC. */
  batch?: { items: bigint; itemPrice: bigint } | undefined;
  /** microAlgos on the attestor's account above its minimum balance. */
  spendable?: bigint | undefined;
  callsADay?: bigint | undefined;
  /** Of one request to what keeps the keys; 0 for keys in files. */
  signature: PicoUsd;
  /** Of one request to each kind of node. */
  requests: Readonly<Partial<Record<Upstream, PicoUsd>>>;
  /** Of a GiB in a month, and for how many months a call is kept. */
  disk: { price: PicoUsd; months: bigint };
  /** Of a month, however much is sold: the machine, subscriptions of nodes. */
  monthly: PicoUsd;
};

export type Costs = ReturnType<typeof costsOf>;
export type RailCost = Costs["rails"][number];

/** What an attestation costs, what remains of its price, and what a month brings. Amounts are exact, in 10^-12 USD. */
export function costsOf(inputs: CostInputs) {
  const { algoPrice, rails, batch, spendable, callsADay } = inputs;
  return {
    algoPrice,
    batch,
    callsADay,
    noteFees: NOTE_FEES,
    rails: rails.map((one) => railCost(inputs, one)),
    algo: spendable === undefined ? undefined : supply(spendable, callsADay),
    months: callsADay === undefined ? [] : rails.map((one) => month(inputs, one, callsADay)),
  };
}

type Sold = CostInputs["rails"][number];

function railCost(inputs: CostInputs, { rail, settlement, ...single }: Sold) {
  const { algoPrice, signature, requests, disk, batch } = inputs;
  const { items, itemPrice } = batch ?? { items: 0n, itemPrice: 0n };
  const price = single.price + items * itemPrice;
  const parts = {
    settlement: settlement.fee,
    signatures: SIGNATURES * signature,
    // Of a batch as many as of single calls, at most: its sources share blocks and requests.
    requests: dearestCall(rail, requests) * (batch ? items : 1n),
    disk: dividedUp((BYTES_A_CALL + BYTES_AN_ITEM * items) * disk.price * disk.months, GIB),
  };
  const beside = Object.values(parts).reduce((sum, part) => sum + part, 0n);
  const withNote = (fee: bigint) => {
    const note = fee * algoPrice;
    const cost = beside + note;
    // A price is whole micro-USDC.
    return { note, cost, remains: price * MICRO - cost, breakEven: dividedUp(cost, MICRO) };
  };
  return {
    rail,
    price,
    by: settlement.by,
    freeAMonth: settlement.freeAMonth,
    ...parts,
    ...atEachFee(withNote),
  };
}

/** A month of a rail, if every call is paid on it. */
function month(inputs: CostInputs, sold: Sold, callsADay: bigint) {
  const calls = callsADay * DAYS_A_MONTH;
  const { rail, price, freeAMonth, settlement, usual } = railCost(inputs, sold);
  const free = calls < freeAMonth ? calls : freeAMonth;
  const revenue = calls * price * MICRO;
  const daily = priceOf(DAILY_REQUESTS, inputs.requests) + PROBES_A_DAY * inputs.signature;
  const always = inputs.monthly + DAYS_A_MONTH * daily;
  const cost = calls * usual.cost - free * settlement;
  return { rail, calls, revenue, cost, always, remains: revenue - cost - always };
}

/** The requests of a call for the source that causes the dearest ones. */
function dearestCall(rail: RailName, prices: CostInputs["requests"]): PicoUsd {
  return CALL_REQUESTS.filter((one) => one.rail === rail)
    .map(({ bundle, final }) => priceOf(bundle, prices) + priceOf(final, prices))
    .reduce((most, one) => {
      if (one > most) return one;
      return most;
    }, 0n);
}

function priceOf(requests: Requests, prices: CostInputs["requests"]): PicoUsd {
  const counts = Object.entries(requests) as [Upstream, bigint][];
  return counts.reduce((sum, [upstream, count]) => sum + count * (prices[upstream] ?? 0n), 0n);
}

function atEachFee<T>(of: (fee: bigint) => T): Record<NoteFee, T> {
  const { usual, congested, falcon } = NOTE_FEES;
  return { usual: of(usual), congested: of(congested), falcon: of(falcon) };
}

/** For how many attestations the account's ALGO lasts, and for how many whole days, at each fee. */
function supply(spendable: bigint, callsADay: bigint | undefined) {
  const at = (fee: bigint) => {
    const attestations = attestationsFor(spendable, fee);
    return { attestations, ...(callsADay !== undefined && { days: attestations / callsADay }) };
  };
  return { spendable, ...atEachFee(at) };
}

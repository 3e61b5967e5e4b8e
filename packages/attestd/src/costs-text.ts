import { type Costs, formatUsd, MICRO, type NoteFee, PUBLISHED_ON, type RailCost } from "@attestd/service/operator";
import type { Terminal } from "./terminal.ts";

const FEES: readonly [fee: NoteFee, where: string][] = [
  ["usual", ""],
  ["congested", ", ledger congested"],
  ["falcon", ", Falcon account"],
];

/** Prints costs for people: a column for each rail, amounts in USD. */
export function printCosts(costs: Costs, out: Terminal): void {
  const { rails, batch, months, algo, algoPrice, callsADay, noteFees } = costs;
  const usdc = (price: bigint) => formatUsd(price * MICRO);
  const algos = (microAlgos: bigint) => formatUsd(microAlgos * MICRO);
  const each = (title: string, of: (rail: RailCost) => string) => [title, ...rails.map(of)];
  const minus = (amount: bigint) => formatUsd(-amount);

  const what = batch ? `A batch of ${batch.items}, each at ${usdc(batch.itemPrice)}` : "An attestation";
  out.line(`${what}, in USD; an ALGO costs ${usdc(algoPrice)}`);
  printTable(out, [
    each("", ({ rail }) => rail),
    each("price", ({ price }) => usdc(price)),
    each("settlement", ({ settlement }) => minus(settlement)),
    each(`note, ${algos(noteFees.usual)} ALGO`, ({ usual }) => minus(usual.note)),
    each("3 signatures", ({ signatures }) => minus(signatures)),
    each("requests to nodes", ({ requests }) => minus(requests)),
    each("disk", ({ disk }) => minus(disk)),
    ...FEES.map(([fee, where]) => each(`remains${where}`, (rail) => formatUsd(rail[fee].remains))),
    ...FEES.map(([fee, where]) => each(`break-even price${where}`, (rail) => usdc(rail[fee].breakEven))),
  ]);
  for (const { rail, by, freeAMonth } of rails) {
    const free = freeAMonth > 0n ? `; ${freeAMonth} settlements a month are free` : "";
    const source = by === "as named" ? "at the price that --facilitator names" : `by ${by}, prices of ${PUBLISHED_ON}`;
    out.line(`  ${rail} is settled ${source}${free}`);
  }
  out.line(`  ledger congested: ${algos(noteFees.congested)} ALGO, the most that a note is given`);
  out.line(`  Falcon account: ${algos(noteFees.falcon)} ALGO, as go-algorand v5.0.0 charges`);

  if (callsADay !== undefined) {
    out.line();
    out.line(`A month of 30 days with ${callsADay} a day, all paid on that rail`);
    printTable(out, [
      ["", ...months.map(({ rail }) => rail)],
      ["sold", ...months.map(({ revenue }) => formatUsd(revenue))],
      ["their cost", ...months.map(({ cost }) => minus(cost))],
      ["without any sale", ...months.map(({ always }) => minus(always))],
      ["remains", ...months.map(({ remains }) => formatUsd(remains))],
    ]);
  }
  if (!algo) return;
  out.line();
  out.line(
    `The attestor's account has ${algos(algo.spendable)} ALGO above its minimum balance. 0.1 stays; the rest pays for`,
  );
  for (const [fee] of FEES.filter(([name]) => name !== "falcon")) {
    const { attestations, days } = algo[fee];
    const time = days === undefined ? "" : `: ${days} days at ${callsADay} a day`;
    out.line(`  ${attestations} attestations of ${algos(noteFees[fee])} ALGO${time}`);
  }
}

function printTable(out: Terminal, rows: readonly (readonly string[])[]): void {
  const widthOf = (column: number) => Math.max(...rows.map((row) => row[column]?.length ?? 0));
  const widths = rows[0]?.map((_, column) => widthOf(column)) ?? [];
  for (const [title = "", ...cells] of rows) {
    const padded = cells.map((cell, i) => cell.padStart(widths[i + 1] ?? 0));
    out.line(`  ${title.padEnd(widths[0] ?? 0)}  ${padded.join("  ")}`);
  }
}

/** Costs for programs: amounts of USD, USDC and ALGO as exact decimals in strings, counts as numbers. */
export function costsJson(costs: Costs): object {
  const { rails, batch, months, algo, algoPrice, callsADay, noteFees } = costs;
  const micro = (amount: bigint) => formatUsd(amount * MICRO);
  const withNote = ({ note, cost, remains, breakEven }: RailCost["usual"]) => ({
    note: formatUsd(note),
    cost: formatUsd(cost),
    remains: formatUsd(remains),
    breakEven: micro(breakEven),
  });
  const lasts = ({ attestations, days }: { attestations: bigint; days?: bigint }) => ({
    attestations: Number(attestations),
    ...(days !== undefined && { days: Number(days) }),
  });
  return {
    algoPrice: micro(algoPrice),
    ...(batch && { batch: { items: Number(batch.items), itemPrice: micro(batch.itemPrice) } }),
    ...(callsADay !== undefined && { perDay: Number(callsADay) }),
    noteFees: Object.fromEntries(FEES.map(([fee]) => [fee, micro(noteFees[fee])])),
    rails: rails.map((one) => ({
      rail: one.rail,
      price: micro(one.price),
      settledBy: one.by,
      freeAMonth: Number(one.freeAMonth),
      settlement: formatUsd(one.settlement),
      signatures: formatUsd(one.signatures),
      requests: formatUsd(one.requests),
      disk: formatUsd(one.disk),
      ...Object.fromEntries(FEES.map(([fee]) => [fee, withNote(one[fee])])),
    })),
    months: months.map(({ rail, calls, ...amounts }) => ({
      rail,
      calls: Number(calls),
      ...Object.fromEntries(Object.entries(amounts).map(([name, amount]) => [name, formatUsd(amount)])),
    })),
    ...(algo && {
      algo: { spendable: micro(algo.spendable), ...Object.fromEntries(FEES.map(([fee]) => [fee, lasts(algo[fee])])) },
    }),
  };
}

import type { Outcome } from "./cell.ts";
import { COLUMNS, type Column, titleOf } from "./matrix.ts";
import { nameOf, POINTS, type Point, SCENARIOS, type Scenario } from "./points.ts";

export type Run = {
  outcomes: readonly Outcome[];
  seed: number;
  /** `YYYY-MM-DD`. */
  date: string;
  /** Short commit hash. */
  revision: string;
  minutes: number;
};

/** The table: a line for each point, a column for each rail, journal and successor, in a cell how often it held. */
export function tableOf(outcomes: readonly Outcome[]): string[] {
  const head = ["killed at", ...COLUMNS.map(columnTitle)];
  const lines = POINTS.map((point) => [rowTitle(point), ...COLUMNS.map((column) => tally(outcomes, point, column))]);
  const widths = head.map((_, i) => Math.max(...[head, ...lines].map((cells) => (cells[i] as string).length)));
  const line = (cells: readonly string[]) =>
    `| ${cells.map((text, i) => text.padEnd(widths[i] as number)).join(" | ")} |`;
  return [line(head), line(widths.map((width) => "-".repeat(width))), ...lines.map(line)];
}

function columnTitle({ rail, store, successor }: Column): string {
  return `${rail}, ${store}${successor === "restart" ? "" : ", other"}`;
}

function rowTitle(point: Point): string {
  return point.scenario === "plain" ? nameOf(point) : `${point.scenario}: ${nameOf(point)}`;
}

function tally(outcomes: readonly Outcome[], point: Point, column: Column): string {
  const { rails }: Scenario = SCENARIOS[point.scenario];
  if (!rails.includes(column.rail)) return "–";
  const ran = outcomes.filter(
    ({ cell }) =>
      rowTitle(cell.point) === rowTitle(point) &&
      cell.rail === column.rail &&
      cell.store === column.store &&
      cell.successor === column.successor,
  );
  if (ran.length === 0) return "";
  const held = ran.filter(({ wrong }) => wrong.length === 0);
  return held.length === ran.length ? `${held.length}` : `**${held.length} of ${ran.length}**`;
}

/** The failures, one after the other. */
export function failuresOf(outcomes: readonly Outcome[]): string[] {
  return outcomes
    .filter(({ wrong }) => wrong.length > 0)
    .map(({ cell, wrong, committed }) => {
      const course = `${committed.killed.join(", ")} | ${committed.successor.join(", ")}`;
      return `${titleOf(cell)}: ${wrong.join("; ")} (${course})`;
    });
}

/** docs/crash-matrix.md. */
export function documentOf({ outcomes, seed, date, revision, minutes }: Run): string {
  const held = outcomes.filter(({ wrong }) => wrong.length === 0).length;
  const failures = failuresOf(outcomes);
  const scenarios = Object.entries(SCENARIOS).map(([name, { story, end, ...scenario }]) => {
    const elsewhere = "elsewhere" in scenario ? ` Not on the other rails: ${scenario.elsewhere}.` : "";
    return `- \`${name}\`: ${story}. The purchase ends ${end}.${elsewhere}`;
  });
  return `# The crash matrix

What a purchase comes to when the process that carries it is killed (SIGKILL) at every step that it commits and at
every effect that it has on the world. Written by \`npm run test:crash\`; a fixed sample of it runs in \`npm test\`.

**${held} of ${outcomes.length} runs held.** ${date}, revision ${revision}, seed ${seed}, ${minutes.toFixed(0)} minutes.

## How to read it

A line is the point at which the process died:

- a **commit**, by the event that it stores: \`before\` it was handed to the journal, \`during\` (some milliseconds later,
  without waiting), or \`after\` it was durable and before anything was made of it;
- an **effect** (\`verify\` and \`settle\` at the facilitator, \`submit\` to algod, \`answer\` to the buyer): \`before\` the request
  left, \`after\` it had its effect and before the answer came, or \`late\`: the request was under way when the process died,
  and had its effect only after another process had taken the call up.

A column is the rail of the payment, the journal, and who goes on: the next process on the same journal, or (\`other\`) a
replica that stood by. An SQLite journal is locked to one process and has no other replica. A number says how often the
cell was run, and held each time; a dash marks a cell that cannot come about.

What else goes wrong, so that each commit comes about:

${scenarios.join("\n")}

## What holds in a cell

The service is a real process with a journal, an attestor and payees of its own, on the sandbox's networks, behind fault
proxies. The buyer asks for the price, signs once, and sends that one payment until there is an answer that ends it.
Then:

- the process was killed where it says;
- the buyer got the bundle, or (\`expired\`) the 402 of a payment that is provably unspent: never a 402 before that;
- the same payment sent once more brings the same bytes;
- two rounds later the payee has been paid exactly once (\`expired\`: not at all), the ledger holds exactly one
  transaction of the attestor (\`expired\`: none), and its note is the bundle's and commits to this payment;
- the audit of journal and chains is clean.

Leases are the real ones: a replica that died is followed 10 to 20 seconds later.

## The table

${tableOf(outcomes).join("\n")}
${failures.length > 0 ? `\n## Failures\n\n${failures.map((failure) => `- ${failure}`).join("\n")}\n` : ""}`;
}

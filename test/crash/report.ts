import type { Outcome } from "./cell.ts";
import { EVERY_FAULT, FAULT_CELLS, type FaultOutcome, questionTitle } from "./faults.ts";
import type { FloodOutcome } from "./flood.ts";
import { CELLS, COLUMNS, type Column, inWords, runTitle } from "./matrix.ts";
import { nameOf, POINTS, type Point, SCENARIOS, type Scenario } from "./points.ts";
import { QUESTION_NAMES } from "./questions.ts";
import type { ReplicasOutcome } from "./replicas.ts";
import type { Result } from "./results.ts";

/** The table: a line for each point, a column for each rail, journal and successor, in a cell how often it held. */
export function tableOf(outcomes: readonly Outcome[]): string[] {
  const head = ["killed at", ...COLUMNS.map(columnTitle)];
  const lines = POINTS.map((point) => [rowTitle(point), ...COLUMNS.map((column) => tally(outcomes, point, column))]);
  return aligned(head, lines);
}

/** A table in Markdown, its columns as wide as their widest cell. */
function aligned(head: readonly string[], lines: readonly (readonly string[])[]): string[] {
  const widths = head.map((_, i) => Math.max(...[head, ...lines].map((cells) => (cells[i] as string).length)));
  const line = (cells: readonly string[]) =>
    `| ${cells.map((text, i) => text.padEnd(widths[i] as number)).join(" | ")} |`;
  return [line(head), line(widths.map((width) => "-".repeat(width))), ...lines.map(line)];
}

function columnTitle({ rail, journal, successor }: Column): string {
  return `${rail}, ${journal}${successor === "restart" ? "" : ", other"}`;
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
      cell.journal === column.journal &&
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
      return `${runTitle(cell)}: ${wrong.join("; ")} (${course})`;
    });
}

/** docs/crash-matrix.md, of all that is known. */
export function documentOf(results: readonly Result[]): string {
  const runs = results.filter((result) => "matrix" in result);
  const broken = results.filter((result) => "fault" in result);
  const trials = results.filter((result) => "replicas" in result);
  const floods = results.filter((result) => "flood" in result);
  return `# What a purchase comes to when things break

Written by \`npm run test:crash\`, whose commands \`matrix\`, \`faults\`, \`replicas\` and \`flood\` fill the parts. A fixed sample
of each runs in \`npm test\` (\`test/crash/sample.test.ts\`).

In all of them the service is real processes or a real server with a journal, an attestor and payees of its own, on the
sandbox's networks, behind fault proxies. The buyer asks for the price, signs once, and sends that one payment until there
is an answer that ends it: the bundle, or a 402.

${[
  ...matrixPart(
    runs.map(({ matrix }) => matrix),
    when(runs),
    runs[0]?.seed,
  ),
  ...faultsPart(
    broken.map(({ fault }) => fault),
    when(broken),
  ),
  ...trials.flatMap((trial) => replicasPart(trial.replicas, when([trial]))),
  ...floods.flatMap((result) => floodPart(result.flood, when([result]))),
]
  .join("\n")
  .trimEnd()}
`;
}

/** `2026-11-21, revision 1a2b3c4`: from the first to the last. */
function when(results: readonly Result[]): string {
  const days = [...new Set(results.map(({ at }) => at.slice(0, 10)))];
  const revisions = [...new Set(results.map(({ revision }) => revision))];
  return `${days.join(" and ")}, revision ${revisions.join(", ")}`;
}

function matrixPart(outcomes: readonly Outcome[], date: string, seed: number | undefined): string[] {
  if (outcomes.length === 0) return [];
  const held = outcomes.filter(({ wrong }) => wrong.length === 0).length;
  const failures = failuresOf(outcomes);
  const bySubject = Map.groupBy(outcomes, ({ cell }) => cell.subject);
  const subjects = [...bySubject].map(([subject, { length }]) => `${length} of ${subject}`).sort();
  const scenarios = Object.entries(SCENARIOS).map(([name, { story, end, ...scenario }]) => {
    const elsewhere = "elsewhere" in scenario ? ` Not on the other rails: ${scenario.elsewhere}.` : "";
    return `- \`${name}\`: ${story}. The purchase ends ${end}.${elsewhere}`;
  });
  return `## Killed (SIGKILL) at every step and every effect

**${held} of ${outcomes.length} runs held**, of ${CELLS.length} cells (${subjects.join(", ")}). ${date}, seed ${seed}.

A line is the point at which the process died:

- a **commit**, by the event that it commits: \`before\` it was handed to the journal, \`during\` (some milliseconds later,
  without waiting), or \`after\` it was durable and before anything was made of it;
- an **effect** (\`verify\` and \`settle\` at the facilitator, \`submit\` to algod, \`answer\` to the buyer): \`before\` the request
  left, \`after\` it had its effect and before the answer came, or \`late\`: the request was under way when the process died,
  and had its effect only after another process had taken the call up.

A column is the rail of the payment, the journal, and who goes on: the next process on the same journal, or (\`other\`) a
replica that stood by. An SQLite journal is locked to one process and has no other replica. A number says how often the
cell was run, each time with another subject (transaction, block, inclusion), and held each time; a dash marks a cell that
cannot come about.

What else goes wrong, so that each commit comes about:

${scenarios.join("\n")}

A cell has held when

- the process was killed where it says;
- the buyer got the bundle, or (\`expired\`) the 402 of a payment that is provably unspent: never a 402 before that;
- the same payment sent once more brings the same bytes;
- two rounds later the payee has been paid exactly once (\`expired\`: not at all), the ledger holds exactly one
  transaction of the attestor (\`expired\`: none), and its note is the bundle's and commits to this payment;
- the audit of journal and chains is clean.

Leases are the real ones: a replica that died is followed 10 to 20 seconds later. A run on a machine so slow that the
payment expired before a process was up again is judged as well (nothing paid, nothing attested, the audit clean), and the
cell is then run again. What dies here is a process, not the machine: PostgreSQL runs with \`fsync=off\`, and a loss of power
is not tried.

${tableOf(outcomes).join("\n")}
${failures.length > 0 ? `\nWhat did not hold:\n\n${failures.map((failure) => `- ${failure}`).join("\n")}\n` : ""}`.split(
    "\n",
  );
}

function faultsPart(outcomes: readonly FaultOutcome[], date: string): string[] {
  if (outcomes.length === 0) return [];
  const held = outcomes.filter(({ wrong }) => wrong.length === 0).length;
  const failures = outcomes.filter(({ wrong }) => wrong.length > 0);
  const lines = QUESTION_NAMES.map((question) => [
    questionTitle(question),
    ...EVERY_FAULT.map((fault) => {
      const outcome = outcomes.find(({ cell }) => cell.question === question && cell.fault === fault);
      const known = FAULT_CELLS.some((cell) => cell.question === question && cell.fault === fault);
      if (!outcome) return known ? "" : "–";
      const told = inWords(outcome.told);
      return outcome.wrong.length > 0 ? `**${told}**` : told;
    }),
  ]);
  return `## A fault at each upstream

**${held} of ${outcomes.length} held.** ${date}.

A line is a question that is put to an upstream for a purchase; a column is what befalls it once. In a cell is what the
buyer was told, up to the end: \`200\` alone means that it waited, and got its bundle without noticing.

- \`before\`: the upstream never gets the question. \`after\`: it does, and has done what was asked; the answer is what is
  lost. \`duplicate\`: it gets the question twice.
- \`wrong data\`: the answer is whole and says something else: a settlement that was made "failed", an attestation that was
  taken is refused, a transaction is in another round, an authorization that was used was not.
- \`stale\`: an answer from before: an earlier round or block, the receipt of another settlement. A dash: it would not
  differ.
- A problem before the bundle is allowed only where nothing has been settled yet, and is never a 402. The one 402 is the
  end of a payment that a lying facilitator never settled, when it has expired, provably unspent.

After each line the payees have been paid once for each bundle and not otherwise, the ledger holds one attestation for
each and no other, and the audit of journal and chains is clean.

${aligned(["upstream, question", ...EVERY_FAULT], lines).join("\n")}
${failures.map(({ cell, wrong }) => `\n- ${cell.question}, ${cell.fault}: ${wrong.join("; ")}`).join("")}`.split("\n");
}

function replicasPart({ trial, together, hungUp, storm, wrong }: ReplicasOutcome, date: string): string[] {
  const answers = together.answers.map((answer) => answer.slice(0, 3));
  const unlike = new Set(hungUp).size;
  return `## Three replicas on one PostgreSQL

${date}, seed ${trial.seed}.

- One payment sent ${trial.times} times at once, to all three: settlements asked for, ${together.settlements}; different answers,
  ${answers.length} (${answers.join(", ")}).
- A buyer hung up as soon as one replica worked on its payment. The same payment, sent to each of the three afterwards:
  different answers, ${unlike} (${[...new Set(hungUp.map((answer) => answer.slice(0, 3)))].join(", ")}).
- ${trial.purchases} purchases of all subjects on all rails, ${trial.atOnce} at a time, while one replica after the other was killed, each
  ${trial.killEveryMs / 1_000} s after the one before had been replaced: ${storm.killed} killed in ${storm.seconds.toFixed(0)} s, **${storm.delivered} of ${trial.purchases} delivered**.
- Chains and journal of all of these: ${wrong.length === 0 ? "each paid once and attested once, the audit clean" : wrong.join("; ")}.
`.split("\n");
}

function floodPart(outcome: FloodOutcome, date: string): string[] {
  const { flood, answers, settlements, prepared, told, longestSeconds, seconds, wrong } = outcome;
  const given = Object.entries(answers).map(([answer, count]) => `${count} × \`${answer}\``);
  const delivered = told.filter((one) => one.at(-1) === "200").length;
  const unhindered = told.filter((one) => one.length === 1).length;
  return `## Many authorizations on one small balance

${date}.

One account on Algorand, which can pay for ${flood.backed} calls, signs ${flood.payments} authorizations, each valid by itself, and sends them
${flood.atOnce} at a time. Others buy meanwhile, on all rails, one after the other.

- Answers to the flood, in ${seconds.toFixed(0)} s: ${given.join(", ")}. ${prepared} of it were taken up.
- Settlements asked of the facilitator: ${settlements}, for ${prepared} and ${flood.honest} purchases.
- The others: ${delivered} of ${flood.honest} delivered, ${unhindered} of them at the first request; the longest took ${longestSeconds.toFixed(1)} s.
- Chains and journal: ${wrong.length === 0 ? "each bundle paid once and attested once, no fee for anything else, the audit clean" : wrong.join("; ")}.
`.split("\n");
}

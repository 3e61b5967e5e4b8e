import type { Outcome } from "./cell.ts";
import { evidencePart } from "./evidence-report.ts";
import { failoverPart } from "./failover-report.ts";
import { EVERY_FAULT, FAULT_CELLS, type FaultOutcome, upstreamRequestTitle } from "./faults.ts";
import type { FloodOutcome } from "./flood.ts";
import { kmsPart } from "./kms-report.ts";
import { CELLS, COLUMNS, type Column, runTitle, summaryOf, titleOf } from "./matrix.ts";
import { nameOf, POINTS, type Point, SCENARIOS, type Scenario } from "./points.ts";
import type { ReplicasOutcome } from "./replicas.ts";
import type { Result } from "./results.ts";
import { signerPart } from "./signer-report.ts";
import { aligned } from "./table.ts";
import { UPSTREAM_REQUEST_NAMES } from "./upstream-requests.ts";

/** The table: a line for each point, a column for each rail, journal and successor; a cell has the number of runs that held. */
export function tableOf(outcomes: readonly Outcome[]): string[] {
  const head = ["killed at", ...COLUMNS.map(columnTitle)];
  const lines = POINTS.map((point) => [rowTitle(point), ...COLUMNS.map((column) => tally(outcomes, point, column))]);
  return aligned(head, lines);
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

/** One line for each failed run. */
export function failuresOf(outcomes: readonly Outcome[]): string[] {
  return outcomes
    .filter(({ wrong }) => wrong.length > 0)
    .map(({ cell, wrong, committed }) => {
      const course = `${committed.killed.join(", ")} | ${committed.successor.join(", ")}`;
      return `${runTitle(cell)}: ${wrong.join("; ")} (${course})`;
    });
}

/**
 * The text of docs/measured/crash-matrix.md.
 *
 * @param earlier the text as it stands: a part of which there are no results stays
 */
export function documentOf(results: readonly Result[], earlier: string): string {
  const runs = results.filter((result) => "matrix" in result);
  const usual = runs.filter(({ matrix }) => matrix.cell.accountKey === undefined);
  const byKey = Map.groupBy(
    runs.filter((run) => !usual.includes(run)),
    ({ matrix }) => matrix.cell.accountKey,
  );
  const failovers = results.filter((result) => "failover" in result);
  const kms = results.filter((result) => "kms" in result);
  const signers = results.filter((result) => "signer" in result);
  const broken = results.filter((result) => "fault" in result);
  const evidence = results.filter((result) => "evidence" in result);
  const trials = results.filter((result) => "replicas" in result);
  const floods = results.filter((result) => "flood" in result);
  const parts = new Map(partsOf(earlier));
  const written = [
    ...matrixPart(
      usual.map(({ matrix }) => matrix),
      when(usual),
      usual[0]?.seed,
    ),
    ...[...byKey].flatMap(([key, ofKey]) =>
      accountPart(
        key,
        ofKey.map(({ matrix }) => matrix),
        when(ofKey),
      ),
    ),
    ...failoverPart(
      failovers.map(({ failover }) => failover),
      when(failovers),
      failovers[0]?.seed,
    ),
    ...kmsPart(
      kms.map((result) => result.kms),
      when(kms),
    ),
    ...signerPart(
      signers.map(({ signer }) => signer),
      when(signers),
      signers[0]?.seed,
    ),
    ...faultsPart(
      broken.map(({ fault }) => fault),
      when(broken),
    ),
    ...evidencePart(
      evidence.map((result) => result.evidence),
      when(evidence),
    ),
    ...trials.flatMap((trial) => replicasPart(trial.replicas, when([trial]))),
    ...floods.flatMap((result) => floodPart(result.flood, when([result]))),
  ].join("\n");
  for (const [heading, part] of partsOf(written)) parts.set(heading, part);
  return `# How a purchase ends after crashes and faults

Written by \`npm run test:crash\`, whose commands \`matrix\`, \`failover\`, \`kms\`, \`signer\`, \`faults\`, \`evidence\`, \`replicas\` and \`flood\`
fill the parts. A fixed sample of each but \`evidence\` runs in \`npm run test:long\` (\`test/crash/sample.test.ts\`).

In all of them the service runs as real processes or a real server with its own journal, attestor and payees, on the
sandbox's networks, behind fault proxies. The buyer requests the price, signs once, and sends that one payment until an
answer ends the purchase: the bundle, or a 402.

${[...parts.values()].join("\n\n")}
`;
}

/** The parts of a text, by their headings. */
function partsOf(text: string): [string, string][] {
  const parts = text.split(/^(?=## )/m).filter((part) => part.startsWith("## "));
  return parts.map((part) => [part.slice(0, part.indexOf("\n")), part.trimEnd()]);
}

/** The days and revisions of results: `2026-11-21, revision 1a2b3c4`. */
function when(results: readonly Result[]): string {
  const days = [...new Set(results.map(({ at }) => at.slice(0, 10)))];
  const revisions = [...new Set(results.map(({ revision }) => revision))];
  return `${days.join(" and ")}, revision ${revisions.join(", ")}`;
}

/** The matrix once more, with another key of the attestor's account. */
function accountPart(key: string | undefined, outcomes: readonly Outcome[], date: string): string[] {
  const held = outcomes.filter(({ wrong }) => wrong.length === 0).length;
  const cells = new Set(outcomes.map(({ cell }) => titleOf(cell))).size;
  return `## Killed, with a ${key} key of the attestor's account

\`npm run test:crash -- matrix --account ${key}\`: **${held} of ${outcomes.length} runs held**, of ${cells} of the ${CELLS.length} cells above. ${date}.
${failuresOf(outcomes)
  .map((failure) => `- ${failure}`)
  .join("\n")}`
    .trimEnd()
    .split("\n");
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

A line is the point at which the process was killed:

- a **commit**, by its event: \`before\` the journal got it, \`during\` it (some milliseconds later), or \`after\` it was
  durable and before the service continued;
- an **effect** (\`verify\` and \`settle\` at the facilitator, \`submit\` to algod, \`answer\` to the buyer): \`before\` the request
  was sent, \`after\` it had its effect and before the answer came, or \`late\`: the request was sent before the kill, and had
  its effect only after another process had taken over the call.

A column is the rail of the payment, the journal, and the successor: the next process on the same journal, or (\`other\`) a
replica that was running already. An SQLite journal is locked to one process and has no other replica. A number is the
count of runs of the cell, each with another subject (transaction, block, inclusion), if all of them held; a dash marks an
impossible cell.

The scenarios, which lead to each commit:

${scenarios.join("\n")}

A cell has held when

- the process was killed at its point;
- the buyer got the bundle, or (\`expired\`) the 402 of a payment that is provably unspent: never a 402 before that;
- the same payment, sent once more, gets the same bytes;
- two rounds later the payee has been paid exactly once (\`expired\`: not at all), the ledger has exactly one
  transaction of the attestor (\`expired\`: none), and its note is the bundle's and commits to this payment;
- the audit of journal and chains is clean.

Leases have their real duration: another replica takes over a call 10 to 20 seconds after the kill. If a machine is so slow
that the payment expires before a process has restarted, that run is checked as well (nothing paid, nothing attested, the
audit clean), and the cell is run again. Only processes are killed, not the machine: PostgreSQL runs with \`fsync=off\`, and
a loss of power is not tested.

${tableOf(outcomes).join("\n")}
${failures.length > 0 ? `\nFailed runs:\n\n${failures.map((failure) => `- ${failure}`).join("\n")}\n` : ""}`.split(
    "\n",
  );
}

function faultsPart(outcomes: readonly FaultOutcome[], date: string): string[] {
  if (outcomes.length === 0) return [];
  const held = outcomes.filter(({ wrong }) => wrong.length === 0).length;
  const failures = outcomes.filter(({ wrong }) => wrong.length > 0);
  const lines = UPSTREAM_REQUEST_NAMES.map((upstreamRequest) => [
    upstreamRequestTitle(upstreamRequest),
    ...EVERY_FAULT.map((fault) => {
      const outcome = outcomes.find(({ cell }) => cell.upstreamRequest === upstreamRequest && cell.fault === fault);
      const known = FAULT_CELLS.some((cell) => cell.upstreamRequest === upstreamRequest && cell.fault === fault);
      if (!outcome) return known ? "" : "–";
      const answers = summaryOf(outcome.answers);
      return outcome.wrong.length > 0 ? `**${answers}**` : answers;
    }),
  ]);
  return `## A fault at each upstream

**${held} of ${outcomes.length} held.** ${date}.

A line is a request to an upstream for a purchase; a column is the fault, which happens once. A cell has the buyer's
answers, up to the last: \`200\` alone means that the buyer waited and got its bundle.

- \`before\`: the upstream never gets the request. \`after\`: it processes the request, and its answer is lost.
  \`duplicate\`: it gets the request twice.
- \`wrong data\`: the answer is complete and wrong: a settlement that was made "failed", an attestation that was accepted is
  refused, a transaction is in another round, a used authorization is unused.
- \`stale\`: an older answer: an earlier round or block, the receipt of another settlement. A dash: it would not differ.
- A problem before the bundle is allowed only before the settlement, and is never a 402. The one 402 ends a payment that
  the facilitator claimed to have settled, after the payment has expired, provably unspent.

After each line the payees have been paid once for each bundle and not otherwise, the ledger has one attestation for
each and no other, and the audit of journal and chains is clean.

${aligned(["upstream, request", ...EVERY_FAULT], lines).join("\n")}
${failures.map(({ cell, wrong }) => `\n- ${cell.upstreamRequest}, ${cell.fault}: ${wrong.join("; ")}`).join("")}`.split(
    "\n",
  );
}

function replicasPart({ trial, together, apart, hungUp, storm, wrong }: ReplicasOutcome, date: string): string[] {
  const answers = together.answers.map((answer) => answer.slice(0, 3));
  const unlike = new Set(hungUp).size;
  return `## Three replicas on one PostgreSQL

${date}, seed ${trial.seed}.

- One payment sent ${trial.times} times at once, to all three: settlements requested, ${together.settlements}; different answers,
  ${answers.length} (${answers.join(", ")}).
- One payment sent to two of them, which the facilitator refused to the second while the first still waited for its answer:
  different answers, ${new Set(apart).size} (${[...new Set(apart.map((answer) => answer.slice(0, 3)))].join(", ")}).
- A buyer closed its connection after one replica had sent its payment to the facilitator. The same payment, sent to each of the three afterwards:
  different answers, ${unlike} (${[...new Set(hungUp.map((answer) => answer.slice(0, 3)))].join(", ")}).
- ${trial.purchases} purchases of all subjects on all rails, ${trial.atOnce} at a time, while one replica after the other was killed, each
  ${trial.killEveryMs / 1_000} s after the one before had been replaced: ${storm.killed} killed in ${storm.seconds.toFixed(0)} s, **${storm.delivered} of ${trial.purchases} delivered**.
- Chains and journal of all of these: ${wrong.length === 0 ? "each paid once and attested once, the audit clean" : wrong.join("; ")}.
`.split("\n");
}

function floodPart(outcome: FloodOutcome, date: string): string[] {
  const { flood, floodAnswers, settlements, begun, otherAnswers, longestSeconds, seconds, wrong } = outcome;
  const given = Object.entries(floodAnswers).map(([answer, count]) => `${count} × \`${answer}\``);
  const delivered = otherAnswers.filter((one) => one.at(-1) === "200").length;
  const unhindered = otherAnswers.filter((one) => one.length === 1).length;
  return `## Many authorizations on one small balance

${date}.

One account on Algorand, which can pay for ${flood.backed} calls, signs ${flood.payments} authorizations, each valid by itself, and sends them
${flood.atOnce} at a time. Others buy at the same time, on all rails, one after the other.

- Answers to the flood, in ${seconds.toFixed(0)} s: ${given.join(", ")}. ${begun} of its calls were committed.
- Settlements requested from the facilitator: ${settlements}, for ${begun} and ${flood.honest} purchases.
- The others: ${delivered} of ${flood.honest} delivered, ${unhindered} of them at the first request; the longest took ${longestSeconds.toFixed(1)} s.
- Chains and journal: ${wrong.length === 0 ? "each bundle paid once and attested once, no fee for anything else, the audit clean" : wrong.join("; ")}.
`.split("\n");
}

import { type SoakOutcome, VITALS_EVERY_MS } from "./soak.ts";

/** The outcome of a soak as a table in Markdown. */
export function soakText(outcome: SoakOutcome): string {
  const { soak, rss, heap, descriptors, loopDelay, wrong } = outcome;
  const rows: [what: string, figure: string][] = [
    ["time", `${soak.minutes} min, ${soak.buyers} buyers and ${soak.freeClients} other clients, seed ${soak.seed}`],
    ["bought and delivered", `${outcome.delivered}, on all rails, of every subject`],
    ["answers before the bundle", counted(outcome.retryAnswers) || "nothing else"],
    ["free requests answered", counted(outcome.freeAnswers)],
    ["faults, each for some seconds", counted(outcome.faults)],
    ["limit of each heap of the service", `${soak.heapMiB} MiB`],
    ["resident memory", `${whole(rss.first)} MiB at first, ${whole(rss.last)} at last, ${whole(rss.most)} at most`],
    ["its slope over the second half", `${rss.slope.toFixed(1)} MiB an hour`],
    [
      "memory in use, lowest of each minute",
      `${whole(heap.first)} MiB at first, ${whole(heap.last)} at last, ${whole(heap.most)} at most`,
    ],
    ["its slope over the second half", `${heap.slope.toFixed(1)} MiB an hour`],
    ["file descriptors", `${descriptors.first} at first, ${descriptors.last} at last, ${descriptors.most} at most`],
    [
      `event-loop delay, 99.9th percentile of ${VITALS_EVERY_MS / 1000} s`,
      `${loopDelay.usual.toFixed(1)} ms usually, ${loopDelay.most.toFixed(1)} ms at most`,
    ],
    ["log, at level debug", `${whole(outcome.loggedBytes / 1e6)} MB, searched for every secret and payment signature`],
    ["audit and public data", wrong.length === 0 ? "clean" : wrong.join("; ")],
  ];
  return ["| What | Figure |", "| --- | --- |", ...rows.map(([what, figure]) => `| ${what} | ${figure} |`)].join("\n");
}

function counted(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .toSorted(([, a], [, b]) => b - a)
    .map(([name, count]) => `${name} ${count.toLocaleString("en")}`)
    .join(", ");
}

function whole(value: number): string {
  return value.toFixed(0);
}

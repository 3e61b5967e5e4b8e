import { COUNTERS, GAUGES, HISTOGRAMS, type Metric } from "../packages/service/src/observe/metrics/table.ts";

/** The table of metrics in docs/monitoring/README.md, Markdown: `node build/metrics-table.ts` prints it. */
export function metricsTable(): string {
  const rows = [COUNTERS, HISTOGRAMS, GAUGES].flatMap((metrics) => Object.values<Metric>(metrics).map(row));
  return ["| Metric | Labels | What it is |", "| --- | --- | --- |", ...rows].join("\n");
}

function row({ name, labels, help }: Metric): string {
  return `| \`${name}\` | ${labels.map((label) => `\`${label}\``).join(", ")} | ${help} |`;
}

if (import.meta.main) console.log(metricsTable());

import { availableParallelism } from "node:os";
import type { Row } from "./measure.ts";

/** The rows as a Markdown table, for a terminal and for docs/measured/performance.md alike. */
export function tableOf(rows: readonly Row[]): string {
  const lines = [
    ["Benchmark", "Ours", "Yardstick", "Ratio", "Lowest to highest", "Goal", "Met"],
    ...rows.map(({ name, unit, ours, yardstick, ratio, spread, goal, met }) => [
      `\`${name}\``,
      `${figure(ours)} ${unit}`,
      `${figure(yardstick)} ${unit}`,
      `${figure(ratio)}×`,
      `${figure(spread[0])} to ${figure(spread[1])}`,
      goal,
      met ? "yes" : "no",
    ]),
  ];
  const widths = (lines[0] ?? []).map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  const [head = [], ...body] = lines.map((line) => line.map((cell, column) => cell.padEnd(widths[column] ?? 0)));
  const rule = widths.map((width) => "-".repeat(width));
  return [head, rule, ...body].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

/** What a table was made on. */
export function machine(): string {
  return `Node ${process.versions.node}, ${availableParallelism()} cores`;
}

/** Three digits that count. */
function figure(value: number): string {
  return value >= 100 ? Math.round(value).toLocaleString("en") : value.toPrecision(3);
}

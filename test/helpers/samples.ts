/** The value of a sample, in Prometheus' text format; of several with these labels, that of the first. */
export function sampleOf(
  text: string,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): number | undefined {
  for (const line of text.split("\n")) {
    const [, found, set = "", value] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
    const own = Object.entries(labels).every(([label, at]) => set.split(",").includes(`${label}="${at}"`));
    if (found === name && own) return Number(value);
  }
  return undefined;
}

/**
 * By how much a counter has grown. Counters are the process's, as Prometheus expects: where test files share one, an earlier
 * file's purchases are among them.
 */
export function increaseOf(
  [before, after]: readonly [string, string],
  ...sample: [name: string, labels?: Readonly<Record<string, string>>]
): number {
  return (sampleOf(after, ...sample) ?? 0) - (sampleOf(before, ...sample) ?? 0);
}

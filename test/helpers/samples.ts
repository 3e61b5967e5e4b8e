type Labels = Readonly<Record<string, string>>;

/** The values of the samples that have these labels, and perhaps more, in Prometheus' text format. */
function* samplesOf(text: string, name: string, labels: Labels): Generator<number> {
  for (const line of text.split("\n")) {
    const [, found, set = "", value] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
    const own = Object.entries(labels).every(([label, at]) => set.split(",").includes(`${label}="${at}"`));
    if (found === name && own) yield Number(value);
  }
}

/** The value of a sample, in Prometheus' text format; of several with these labels, that of the first. */
export function sampleOf(text: string, name: string, labels: Labels = {}): number | undefined {
  return samplesOf(text, name, labels).next().value;
}

/**
 * By how much a counter has grown, over all its samples with these labels. Counters are the process's, as Prometheus expects:
 * where test files share one, an earlier file's purchases, and its facilitators, are among them.
 */
export function increaseOf([before, after]: readonly [string, string], name: string, labels: Labels = {}): number {
  const total = (text: string) => samplesOf(text, name, labels).reduce((sum, value) => sum + value, 0);
  return total(after) - total(before);
}

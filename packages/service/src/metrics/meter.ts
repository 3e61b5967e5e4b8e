import type * as Prometheus from "prom-client";
import { COUNTERS, GAUGES, HISTOGRAMS, type Metric } from "./table.ts";

type Labels<M extends Metric> = Readonly<Record<M["labels"][number], string>>;
type Sample<M extends Metric> = { labels: Labels<M>; value: number };

/** The samples of a gauge now; none where it cannot be known. */
type Read<M extends Metric> = () => readonly Sample<M>[] | Promise<readonly Sample<M>[]>;

/** The metrics in Prometheus' text format, and its media type. */
export type Metrics = { text(): Promise<string>; readonly contentType: string };

type Live = {
  registry: Prometheus.Registry;
  counters: Readonly<Record<string, Prometheus.Counter>>;
  histograms: Readonly<Record<string, Prometheus.Histogram>>;
};

/*
 * One for the process, as its event loop and memory are. prom-client takes a tenth of the time that the service takes to
 * start: so it is loaded, and anything counted, only once someone wants to read the metrics.
 */
let live: Live | undefined;
const reads = new Map<keyof typeof GAUGES, Set<Read<Metric>>>();
/** Of gauges that are counted up and down, by their labels; kept from the start, because they must not miss a change. */
const levels = new Map<string, Sample<Metric> & { name: keyof typeof GAUGES }>();

export function count<K extends keyof typeof COUNTERS>(name: K, labels: Labels<(typeof COUNTERS)[K]>, by = 1): void {
  live?.counters[name]?.inc(labels, by);
}

export function observe<K extends keyof typeof HISTOGRAMS>(
  name: K,
  labels: Labels<(typeof HISTOGRAMS)[K]>,
  seconds: number,
): void {
  live?.histograms[name]?.observe(labels, seconds);
}

/** Observes how long a promise takes, however it ends. */
export async function timed<K extends keyof typeof HISTOGRAMS, T>(
  name: K,
  labels: Labels<(typeof HISTOGRAMS)[K]>,
  run: () => Promise<T>,
): Promise<T> {
  const start = performance.now();
  try {
    return await run();
  } finally {
    observe(name, labels, (performance.now() - start) / 1000);
  }
}

/** Adds to a gauge's level. */
export function shift<K extends keyof typeof GAUGES>(name: K, labels: Labels<(typeof GAUGES)[K]>, by: number): void {
  const key = JSON.stringify([name, labels]);
  const level = levels.get(key) ?? { name, labels, value: 0 };
  level.value += by;
  levels.set(key, level);
}

/** Reads a gauge whenever the metrics are read. @returns a function that ends it */
export function gauge<K extends keyof typeof GAUGES>(name: K, read: Read<(typeof GAUGES)[K]>): () => void {
  const others = reads.get(name) ?? new Set();
  reads.set(name, others);
  others.add(read as Read<Metric>);
  return () => others.delete(read as Read<Metric>);
}

/** Shows a counter from 0 on: Prometheus sees no increase in a counter that begins at 1. */
export function countFromZero<K extends keyof typeof COUNTERS>(name: K, labels: Labels<(typeof COUNTERS)[K]>): void {
  live?.counters[name]?.inc(labels, 0);
}

/** Begins to count, where nothing is counted yet. */
export async function startMetrics(): Promise<Metrics> {
  live ??= open((await import("prom-client")).default);
  const { registry } = live;
  return { text: () => registry.metrics(), contentType: registry.contentType };
}

function open({
  Registry,
  Counter,
  Gauge,
  Histogram,
  collectDefaultMetrics,
}: Omit<typeof Prometheus, "default">): Live {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  for (const [key, { name, help, labels }] of Object.entries(GAUGES)) {
    new Gauge({
      name,
      help,
      labelNames: [...labels],
      registers,
      async collect() {
        this.reset();
        for (const sample of await samplesOf(key as keyof typeof GAUGES)) this.inc(sample.labels, sample.value);
      },
    });
  }
  return {
    registry,
    counters: all(COUNTERS, ({ name, help, labels }) => {
      return new Counter({ name, help, labelNames: [...labels], registers });
    }),
    histograms: all(
      HISTOGRAMS,
      ({ name, help, labels, buckets = [] }) =>
        new Histogram({ name, help, labelNames: [...labels], buckets: [...buckets], registers }),
    ),
  };
}

async function samplesOf(name: keyof typeof GAUGES): Promise<readonly Sample<Metric>[]> {
  const read = await Promise.all([...(reads.get(name) ?? [])].map(async (one) => one()));
  return [...read.flat(), ...[...levels.values()].filter((level) => level.name === name)];
}

function all<T>(metrics: Readonly<Record<string, Metric>>, make: (metric: Metric) => T): Record<string, T> {
  return Object.fromEntries(Object.entries(metrics).map(([key, metric]) => [key, make(metric)]));
}

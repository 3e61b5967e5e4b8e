import type * as Prometheus from "prom-client";
import { endOf } from "../../lib/clock.ts";
import { COUNTERS, GAUGES, HISTOGRAMS, type Metric } from "./table.ts";

type Labels<M extends Metric> = Readonly<Record<M["labels"][number], string>>;
type Sample<M extends Metric> = { labels: Labels<M>; value: number };

/** Reads a gauge's current samples; none if it cannot be known. */
type Read<M extends Metric> = () => readonly Sample<M>[] | Promise<readonly Sample<M>[]>;

/** The metrics in Prometheus' text format, and its media type. */
export type Metrics = { text(): Promise<string>; readonly contentType: string };

/** A gauge's read, and its samples while they are being read. */
type Reading = { read: Read<Metric>; pending?: Promise<readonly Sample<Metric>[]> | undefined };

type Live = {
  registry: Prometheus.Registry;
  gauges: Readonly<Record<string, Prometheus.Gauge>>;
  counters: Readonly<Record<string, Prometheus.Counter>>;
  histograms: Readonly<Record<string, Prometheus.Histogram>>;
};

/*
 * One meter per process, because event loop and memory are the process's. prom-client would add a tenth to the start.
 * It is loaded, and counting begins, only when something is to read the metrics.
 */
let live: Live | undefined;
const readings = new Map<string, Set<Reading>>();
/**
 * Values of gauges that are counted up and down, by their labels. They are kept from the start, because they must not
 * miss a change.
 */
const levels = new Map<string, Sample<Metric> & { name: keyof typeof GAUGES }>();

/** How long reading a gauge may take, in ms. Prometheus abandons a scrape after ten seconds. */
const READ_MS = 1_000;

/** @param by 0 makes a counter visible at 0: Prometheus sees no increase in a counter that begins at 1 */
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

/** Measures how long a promise takes, however it ends. */
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

/** Changes a gauge's value. */
export function shift<K extends keyof typeof GAUGES>(name: K, labels: Labels<(typeof GAUGES)[K]>, by: number): void {
  const key = JSON.stringify([name, labels]);
  levels.getOrInsertComputed(key, () => ({ name, labels, value: 0 })).value += by;
}

/** Raises a gauge by one while a promise is pending, however it ends. */
export async function during<K extends keyof typeof GAUGES, T>(
  name: K,
  labels: Labels<(typeof GAUGES)[K]>,
  run: () => Promise<T>,
): Promise<T> {
  shift(name, labels, 1);
  try {
    return await run();
  } finally {
    shift(name, labels, -1);
  }
}

/**
 * Reads a gauge whenever the metrics are read. If reading fails or takes longer than a second, the gauge is left out,
 * and the failure is counted.
 * @returns a function that removes the gauge
 */
export function gauge<K extends keyof typeof GAUGES>(name: K, read: Read<(typeof GAUGES)[K]>): () => void {
  const others = readings.getOrInsertComputed(name, () => new Set());
  const reading: Reading = { read: read as Read<Metric> };
  others.add(reading);
  return () => others.delete(reading);
}

/** Starts counting, unless it has been started. */
export async function startMetrics(): Promise<Metrics> {
  live ??= open((await import("prom-client")).default);
  const { registry, gauges } = live;
  return {
    contentType: registry.contentType,
    async text() {
      await Promise.all(Object.entries(gauges).map(([name, shown]) => refresh(name as keyof typeof GAUGES, shown)));
      return registry.metrics();
    },
  };
}

function open({
  Registry,
  Counter,
  Gauge,
  Histogram,
  collectDefaultMetrics,
}: Omit<typeof Prometheus, "default">): Live {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const shown = ({ name, help, labels }: Metric) => ({ name, help, labelNames: [...labels], registers: [registry] });
  const gauges = all(GAUGES, (metric) => new Gauge(shown(metric)));
  const counters = all(COUNTERS, (metric) => new Counter(shown(metric)));
  const histograms = all(HISTOGRAMS, (metric) => {
    return new Histogram({ ...shown(metric), buckets: [...(metric.buckets ?? [])] });
  });
  for (const { name } of Object.values(GAUGES)) counters.unread?.inc({ metric: name }, 0);
  return { registry, gauges, counters, histograms };
}

/** Reads a gauge again. The shown samples change synchronously, so that two concurrent scrapes do not add up. */
async function refresh(name: keyof typeof GAUGES, shown: Prometheus.Gauge): Promise<void> {
  const read = await Promise.allSettled([...(readings.get(name) ?? [])].map(samplesOf));
  shown.reset();
  // prom-client resets a gauge without labels to 0, which would look like a value.
  if (GAUGES[name].labels.length === 0) shown.remove();
  for (const result of read) {
    if (result.status === "rejected") count("unread", { metric: GAUGES[name].name });
    else for (const { labels, value } of result.value) shown.inc(labels, value);
  }
  for (const level of levels.values()) if (level.name === name) shown.inc(level.labels, level.value);
}

/** @throws Error of the read, or when it is late; a read in progress is awaited, not started again */
async function samplesOf(reading: Reading): Promise<readonly Sample<Metric>[]> {
  reading.pending ??= begin(reading);
  return Promise.race([reading.pending, endOf(AbortSignal.timeout(READ_MS))]);
}

async function begin(reading: Reading): Promise<readonly Sample<Metric>[]> {
  try {
    return await reading.read();
  } finally {
    reading.pending = undefined;
  }
}

function all<T>(metrics: Readonly<Record<string, Metric>>, make: (metric: Metric) => T): Record<string, T> {
  return Object.fromEntries(Object.entries(metrics).map(([key, metric]) => [key, make(metric)]));
}

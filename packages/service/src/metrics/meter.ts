import type * as Prometheus from "prom-client";
import { endOf } from "../clock.ts";
import { COUNTERS, GAUGES, HISTOGRAMS, type Metric } from "./table.ts";

type Labels<M extends Metric> = Readonly<Record<M["labels"][number], string>>;
type Sample<M extends Metric> = { labels: Labels<M>; value: number };

/** The samples of a gauge now; none where it cannot be known. */
type Read<M extends Metric> = () => readonly Sample<M>[] | Promise<readonly Sample<M>[]>;

/** The metrics in Prometheus' text format, and its media type. */
export type Metrics = { text(): Promise<string>; readonly contentType: string };

/** A read of a gauge, and its samples while they are waited for. */
type Reading = { read: Read<Metric>; pending?: Promise<readonly Sample<Metric>[]> | undefined };

type Live = {
  registry: Prometheus.Registry;
  gauges: Readonly<Record<string, Prometheus.Gauge>>;
  counters: Readonly<Record<string, Prometheus.Counter>>;
  histograms: Readonly<Record<string, Prometheus.Histogram>>;
};

/*
 * One for the process, as its event loop and memory are. prom-client takes a tenth of the time that the service takes to
 * start: so it is loaded, and anything counted, only once someone wants to read the metrics.
 */
let live: Live | undefined;
const readings = new Map<string, Set<Reading>>();
/** Of gauges that are counted up and down, by their labels; kept from the start, because they must not miss a change. */
const levels = new Map<string, Sample<Metric> & { name: keyof typeof GAUGES }>();

/** How long a gauge may take to be read, in ms: Prometheus gives up a scrape after ten seconds. */
const READ_MS = 1_000;

/** @param by 0 shows a counter from 0 on: Prometheus sees no increase in one that begins at 1 */
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
  levels.getOrInsertComputed(key, () => ({ name, labels, value: 0 })).value += by;
}

/** Adds to a gauge's level by one as long as a promise is under way, however it ends. */
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
 * Reads a gauge whenever the metrics are read. Where that fails, or takes longer than a second, the gauge is left out, and
 * counted among the failures.
 *
 * @returns a function that ends it
 */
export function gauge<K extends keyof typeof GAUGES>(name: K, read: Read<(typeof GAUGES)[K]>): () => void {
  const others = readings.getOrInsertComputed(name, () => new Set());
  const reading: Reading = { read: read as Read<Metric> };
  others.add(reading);
  return () => others.delete(reading);
}

/** Begins to count, where nothing is counted yet. */
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

/** Reads a gauge again. What is shown changes in one turn, so that two scrapes at once do not add up. */
async function refresh(name: keyof typeof GAUGES, shown: Prometheus.Gauge): Promise<void> {
  const read = await Promise.allSettled([...(readings.get(name) ?? [])].map(samplesOf));
  shown.reset();
  // prom-client resets a gauge without labels to 0, which would be a value.
  if (GAUGES[name].labels.length === 0) shown.remove();
  for (const result of read) {
    if (result.status === "rejected") count("unread", { metric: GAUGES[name].name });
    else for (const { labels, value } of result.value) shown.inc(labels, value);
  }
  for (const level of levels.values()) if (level.name === name) shown.inc(level.labels, level.value);
}

/** @throws Error of the read, or when it is late; one that is still under way is waited for, and not begun again */
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

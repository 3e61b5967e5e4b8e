import { z } from "zod";
import { nearestName, type SettingFaults } from "./faults.ts";
import { pairs, plainUrl } from "./formats.ts";

/** Those of OpenTelemetry that do not let the caller decide. */
const SAMPLERS = ["always_on", "always_off", "traceidratio"] as const;

/** The variables of OpenTelemetry that are read, as its specification has them. Its packages read only some of these. */
export const OtelVariables = z.object({
  OTEL_EXPORTER_OTLP_ENDPOINT: plainUrl("OTEL_EXPORTER_OTLP_HEADERS").optional(),
  OTEL_EXPORTER_OTLP_HEADERS: pairs.default({}),
  OTEL_SERVICE_NAME: z.string().max(100, "must have at most 100 characters").default("attestd"),
  OTEL_RESOURCE_ATTRIBUTES: pairs.default({}),
  OTEL_TRACES_SAMPLER: z.enum(SAMPLERS, `must be one of ${SAMPLERS.join(", ")}`).default("always_on"),
  OTEL_TRACES_SAMPLER_ARG: z
    .string()
    .regex(/^(0(\.\d+)?|1(\.0+)?)$/, "must be a number from 0 to 1")
    .transform(Number)
    .default(1),
});

/** Where spans are sent, and how. */
export type TracingSettings = {
  endpoint: string;
  headers: Record<string, string>;
  serviceName: string;
  resourceAttributes: Record<string, string>;
  sampler: { name: (typeof SAMPLERS)[number]; ratio: number };
  /** Hosts of upstreams, with their ports, that are told of which trace a request is. */
  hosts: readonly string[];
};

/** @param variables the environment; empty ones count as absent @returns undefined: nothing is traced */
export function readTracing(
  variables: Readonly<Record<string, string | undefined>>,
  hosts: readonly string[],
  faults: SettingFaults,
): TracingSettings | undefined {
  const known = Object.keys(OtelVariables.shape);
  const set = Object.fromEntries(Object.entries(variables).filter(([, value]) => value));
  for (const name of Object.keys(set).filter((name) => name.startsWith("OTEL_") && !known.includes(name))) {
    const meant = nearestName(name, known);
    // Others belong to other programs.
    if (meant !== undefined) faults.add(`${name} is not read by attestd. Did you mean ${meant}?`);
  }
  const { data, error } = OtelVariables.safeParse(set);
  for (const { path, message } of error?.issues ?? []) faults.add(`${path.join()} ${message}.`);
  if (data?.OTEL_EXPORTER_OTLP_ENDPOINT === undefined) return undefined;
  return {
    endpoint: data.OTEL_EXPORTER_OTLP_ENDPOINT,
    headers: data.OTEL_EXPORTER_OTLP_HEADERS,
    serviceName: data.OTEL_SERVICE_NAME,
    resourceAttributes: data.OTEL_RESOURCE_ATTRIBUTES,
    sampler: { name: data.OTEL_TRACES_SAMPLER, ratio: data.OTEL_TRACES_SAMPLER_ARG },
    hosts,
  };
}

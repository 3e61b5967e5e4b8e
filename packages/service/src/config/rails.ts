import { z } from "zod";
import {
  type FacilitatorSettings,
  facilitatorNames,
  facilitatorShape,
  type ReportFault,
  readFacilitators,
} from "./facilitators.ts";
import type { SettingFaults, Values } from "./faults.ts";
import { whole } from "./formats.ts";

/** A rail that is switched on. */
export type RailSettings = {
  payTo: string;
  /** At least one, in order of preference. */
  facilitators: FacilitatorSettings[];
  /** micro-USDC a call. */
  price: bigint;
};

/** micro-USDC. */
export const price = whole(1, 1_000_000_000).transform(BigInt);

/**
 * A rail's settings, as its folder describes them. Every rail also has `PAY_TO_<NAME>`, `PRICE_MICRO_USDC_<NAME>` and the
 * lists of its facilitators, `<NAME>_FACILITATOR_URL` and so on (facilitators.ts).
 */
export type RailVariables = {
  /** The rail's name. */
  readonly name: string;
  /** The form of a payee's address. */
  readonly payTo: z.ZodType<string>;
  /** Whether the rail is always on. The settings of its facilitators then have no prefix. */
  readonly isRequired?: boolean;
  /** The setting in `own` without which the rail cannot be switched on. */
  readonly needs?: string;
  /** All further settings, by name; they are read also while the rail is switched off. */
  readonly own: z.ZodObject;
};

/** The names of the settings that every rail has. */
export function namesOf({ name, isRequired }: Pick<RailVariables, "name" | "isRequired">) {
  const upper = name.toUpperCase();
  return {
    prefix: upper,
    payTo: `PAY_TO_${upper}`,
    price: `PRICE_MICRO_USDC_${upper}`,
    facilitator: facilitatorNames(isRequired ? "FACILITATOR" : `${upper}_FACILITATOR`),
  };
}

/** The schemas of one rail's settings, by name. */
export function railShape(rail: RailVariables): Record<string, z.ZodType> {
  const names = namesOf(rail);
  return {
    [names.payTo]: rail.isRequired ? rail.payTo : rail.payTo.optional(),
    [names.price]: price.optional(),
    ...facilitatorShape(names.facilitator, rail.isRequired),
    ...rail.own.shape,
  };
}

/**
 * Reads one rail's settings: those that switch it on are all there, or none is.
 *
 * @returns undefined for a rail that is switched off, or has a fault; no `price` where the rail has none of its own
 */
export function readRail(
  rail: RailVariables,
  values: Values,
  faults: SettingFaults,
): (Omit<RailSettings, "price"> & { price?: bigint }) | undefined {
  const right = faults.readEach(z.object(railShape(rail)), values) ?? {};
  const isSet = (name: string) => values[name] !== undefined;
  const report: ReportFault = (name, predicate) => faults.add(name, `${name} ${predicate}.`);
  const names = namesOf(rail);
  const { url } = names.facilitator;
  const ofFacilitators = Object.values(names.facilitator);
  // Also what concerns the facilitators alone: a rail is off only when nothing of it is set.
  const set = [names.payTo, ...ofFacilitators].find(isSet);
  if (set === undefined) return undefined;
  const needed = rail.isRequired ? [] : [names.payTo, url, ...(rail.needs === undefined ? [] : [rail.needs])];
  for (const missing of needed.filter((name) => !isSet(name))) report(set, `is set but ${missing} is not`);
  if (!isSet(url) || ofFacilitators.some((name) => isSet(name) && right[name] === undefined)) return undefined;
  const facilitators = readFacilitators(names.facilitator, right, report);
  const { [names.payTo]: payTo, [names.price]: price } = right as { [name: string]: unknown };
  if (typeof payTo !== "string" || facilitators.length === 0) return undefined;
  return { payTo, facilitators, ...(typeof price === "bigint" && { price }) };
}

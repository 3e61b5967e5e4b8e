import { z } from "zod";
import { headerValue, publishedUrl } from "./formats.ts";

/** A facilitator; `auth` is the value of its Authorization header. */
export type FacilitatorSettings = { url: string; auth?: string };

/** A rail that is switched on. */
export type RailSettings = { payTo: string; facilitator: FacilitatorSettings };

/**
 * A rail's settings, as its folder describes them. Every rail also has `PAY_TO_<NAME>`, `<NAME>_FACILITATOR_URL` and
 * `<NAME>_FACILITATOR_AUTH`.
 */
export type RailVariables = {
  /** The rail's name. */
  readonly name: string;
  /** The form of a payee's address. */
  readonly payTo: z.ZodType<string>;
  /** Whether the rail is always on. The settings of its facilitator then have no prefix. */
  readonly isRequired?: boolean;
  /** The setting in `own` without which the rail cannot be switched on. */
  readonly needs?: string;
  /** All further settings, by name; they are read also while the rail is switched off. */
  readonly own: z.ZodObject;
};

/** The names of the settings that every rail has. */
export function namesOf({ name, isRequired }: Pick<RailVariables, "name" | "isRequired">) {
  const upper = name.toUpperCase();
  const facilitator = isRequired ? "FACILITATOR" : `${upper}_FACILITATOR`;
  return { prefix: upper, payTo: `PAY_TO_${upper}`, url: `${facilitator}_URL`, auth: `${facilitator}_AUTH` };
}

/** The schema of one rail's settings: those that switch it on are all there, or none is. */
export function railSchema(rail: RailVariables) {
  const { payTo, url, auth } = namesOf(rail);
  const facilitator = publishedUrl(auth);
  const shape: Record<string, z.ZodType> = {
    [payTo]: rail.isRequired ? rail.payTo : rail.payTo.optional(),
    [url]: rail.isRequired ? facilitator : facilitator.optional(),
    [auth]: headerValue.optional(),
    ...rail.own.shape,
  };
  const needed = [payTo, url, ...(rail.needs === undefined ? [] : [rail.needs])];
  return z.object(shape).superRefine((values, { addIssue }) => {
    const set = [payTo, url].find((name) => values[name] !== undefined);
    const missing = needed.find((name) => values[name] === undefined);
    if (set !== undefined && missing !== undefined)
      addIssue({ code: "custom", path: [set], message: `is set but ${missing} is not` });
  });
}

/** @param values as `railSchema` returns them. @returns undefined when the rail is switched off */
export function readRail(rail: RailVariables, values: Readonly<Record<string, unknown>>): RailSettings | undefined {
  const names = namesOf(rail);
  const [payTo, url, auth] = [names.payTo, names.url, names.auth].map((name) => values[name] as string | undefined);
  if (payTo === undefined || url === undefined) return undefined;
  return { payTo, facilitator: { url, ...(auth !== undefined && { auth }) } };
}

import { z } from "zod";
import { cdpKey, payaiKey, type TokenKey } from "./facilitator-keys.ts";
import { orReport, type SettingFaults } from "./faults.ts";
import { headerValue, plainUrl } from "./formats.ts";
import type { Read } from "./read.ts";
import { secret } from "./references.ts";
import { urlSpelling } from "./url-spelling.ts";

/** How a facilitator knows us. */
export type FacilitatorAuth =
  | { kind: "none" }
  /** One value of the Authorization header. */
  | { kind: "header"; value: string }
  /** A token for each request. */
  | { kind: "cdp" | "payai"; keyId: string; key: TokenKey };

export type FacilitatorSettings = {
  /** As the settings write it; it is published. */
  url: string;
  auth: FacilitatorAuth;
};

const KINDS = ["none", "header", "cdp", "payai"] as const;

/** A table `[[facilitators]]`. The order of the tables is the order of preference. */
export const Facilitator = z.strictObject({
  url: plainUrl("secret", "is published, and ").meta({
    description: "URL of an x402 facilitator; required.",
    example: "",
  }),
  rails: z
    .array(z.string())
    .min(1, "must name a rail")
    .meta({
      description:
        "Rails whose payments it verifies and settles; of several facilitators of a rail, the first in the file is preferred; required.",
      example: ["algorand"],
    }),
  kind: z
    .enum(KINDS, `must be one of ${KINDS.join(", ")}`)
    .default("none")
    .describe(`How it knows us: ${KINDS.map((kind) => `\`${kind}\``).join(", ")}; see [below](#facilitators).`),
  key_id: z
    .string()
    .regex(/^[\x21-\x7e]{1,512}$/, "must be ASCII without spaces")
    .optional()
    .meta({
      description: "Id of our key, for the kinds `cdp` and `payai`.",
      otherwise: "none",
      example: "merchant-key-1",
    }),
  secret: secret.optional().meta({
    description: "Our secret, for every kind but `none`: `file:PATH` or `env:NAME`.",
    otherwise: "none",
    example: "file:facilitator.key",
  }),
});

/**
 * Reads the facilitators of each rail, in the order of the file, and adds what contradicts.
 * @param given the tables as they are written, in which a setting may be at fault
 * @param isEnabled whether a rail is; undefined for a name that is none of a rail
 */
export function readFacilitators(
  read: Read<typeof Facilitator>[],
  given: readonly Record<string, unknown>[],
  isEnabled: ReadonlyMap<string, boolean>,
  faults: SettingFaults,
): ReadonlyMap<string, FacilitatorSettings[]> {
  const byRail = new Map<string, FacilitatorSettings[]>();
  const places = new Map<string, number>();
  for (const [index, own] of read.entries()) {
    const place = index + 1;
    const report = (key: string, predicate: string) => faults.add(`facilitators (entry ${place}).${key} ${predicate}.`);
    for (const rail of own.rails ?? [])
      if (isEnabled.get(rail) === undefined) report("rails", `must be some of ${[...isEnabled.keys()].join(", ")}`);
      else if (!isEnabled.get(rail)) report("rails", `names ${rail}, but rails.${rail}.pay_to is not set`);
    if (own.url !== undefined) {
      const earlier = places.getOrInsert(urlSpelling(own.url), place);
      if (earlier !== place)
        report("url", `is that of entry ${earlier} too: name all its rails there, and remove this table`);
    }
    const isFaulty = Object.entries(own).some(
      ([key, value]) => value === undefined && given[index]?.[key] !== undefined,
    );
    const auth = isFaulty ? undefined : authOf(own, report);
    // Also one at fault: its rails do not lack a facilitator.
    for (const rail of own.rails ?? [])
      byRail.getOrInsertComputed(rail, () => []).push({ url: own.url ?? "", auth: auth ?? { kind: "none" } });
  }
  return byRail;
}

/** @returns undefined after a fault was reported */
function authOf(
  { kind = "none", key_id: keyId, secret }: Read<typeof Facilitator>,
  report: (key: "key_id" | "secret", predicate: string) => void,
): FacilitatorAuth | undefined {
  const takesKey = kind === "cdp" || kind === "payai";
  const unused = `is not used by kind ${kind}: set the kind, or leave it out`;
  if (kind === "none" && secret !== undefined) report("secret", unused);
  if (!takesKey && keyId !== undefined) report("key_id", unused);
  if (kind === "none") return { kind };
  if (secret === undefined) report("secret", `is not set, which kind ${kind} needs`);
  if (takesKey && keyId === undefined) report("key_id", `is not set, which kind ${kind} needs`);
  if (secret === undefined) return undefined;
  const refused = (predicate: string) => report("secret", predicate);
  if (!takesKey) return orReport(() => ({ kind, value: headerValueOf(secret) }), refused);
  const key = orReport(() => (kind === "cdp" ? cdpKey(secret) : payaiKey(secret)), refused);
  return key && keyId !== undefined ? { kind, keyId, key } : undefined;
}

/** @throws RangeError a predicate */
function headerValueOf(secret: string): string {
  const { data, error } = headerValue.safeParse(secret);
  if (data === undefined) throw new RangeError(error?.issues[0]?.message);
  return data;
}

/** The one spelling of a facilitator's URL, by which a call's row names it. */
export function facilitatorId(url: string): string {
  return urlSpelling(url);
}

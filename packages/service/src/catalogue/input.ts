import type { IncomingHttpHeaders } from "node:http";
import { isProofError, parseJson } from "@attestd/proof";
import { childPointer, type JsonLimits, type JsonValue } from "@attestd/proof/json";
import { excerpt } from "@attestd/proof/text";
import type { z } from "zod";
import { Problem } from "../lib/problems.ts";
import { type LongList, MAX_LIST_MEMBERS, takeLongList } from "./long-list.ts";

/** One invalid member, by JSON pointer (RFC 6901). */
export type InputError = { pointer: string; detail: string };

/** Limits of all JSON except bundles. A payment with every extension on offer has some 200 members. */
export const REQUEST_LIMITS = { maxMembers: 1024, allowFractions: true } as const satisfies JsonLimits;

/** Limits of a request without its long list of transactions, which is not parsed at first. */
export const INPUT_LIMITS: JsonLimits = {
  ...REQUEST_LIMITS,
  takeArray: (text, offset, path) =>
    path.length === 1 && path[0] === "items" ? takeLongList(text, offset) : undefined,
};

/** Parses a request's strict JSON. A long member `items` becomes a `LongList`. @throws Problem `body_not_json` */
export function parseInput(bytes: Uint8Array | string): JsonValue {
  return parseStrict(bytes, INPUT_LIMITS, "");
}

/** Parses the member `items`. @throws Problem `body_not_json`, with a line counted from the list's bracket */
export function parseLongList({ json }: LongList): JsonValue {
  return parseStrict(json, { ...REQUEST_LIMITS, maxMembers: MAX_LIST_MEMBERS }, "/items");
}

/** @param pointer of the JSON in the request */
function parseStrict(json: Uint8Array | string, limits: JsonLimits, pointer: string): JsonValue {
  try {
    return parseJson(json, limits);
  } catch (error) {
    if (!isProofError(error, "json")) throw error;
    throw notJson(error.message, pointer + error.pointer);
  }
}

/** Returns the problem of a body that is not strict JSON. @param pointer to the fault */
export function notJson(message: string, pointer: string): Problem {
  return new Problem("body_not_json", message, { members: { errors: [{ pointer, detail: message }] } });
}

/** Requires the headers of a JSON body without a content encoding. @throws Problem `media_type` */
export function requireJson({ "content-type": type, "content-encoding": encoding }: IncomingHttpHeaders): void {
  // For most requests the first comparison is enough.
  if (type !== "application/json" && type?.split(";", 1)[0]?.trim().toLowerCase() !== "application/json")
    throw new Problem("media_type", `The body's media type is ${type ? JSON.stringify(excerpt(type)) : "not given"}.`);
  if (encoding && encoding.trim().toLowerCase() !== "identity")
    throw new Problem(
      "media_type",
      `The body's Content-Encoding is ${JSON.stringify(excerpt(encoding))}: send it without one.`,
    );
}

/** The limit of invalid members in an answer: as many as a batch has items. */
const MAX_ERRORS = 1000;
/** The limit of unknown members in an answer, whose names are the caller's. */
const MAX_UNKNOWN = 15;

/** Parses a value by its schema. @throws Problem `body_invalid` that names the first invalid members */
export function validate<T>(schema: z.ZodType<T>, value: unknown): T {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const errors = parsed.error.issues.flatMap((issue) =>
    issue.code === "unrecognized_keys"
      ? issue.keys
          .slice(0, MAX_UNKNOWN)
          .map((key) => ({ pointer: pointerOf([...issue.path, key]), detail: "is not a member here" }))
      : [{ pointer: pointerOf(issue.path), detail: issue.message }],
  );
  throw invalid(...errors.slice(0, MAX_ERRORS));
}

/** Returns the problem of invalid input. */
export function invalid(...errors: InputError[]): Problem {
  const [first] = errors;
  const name = first?.pointer.slice(1) || "The body";
  return new Problem("body_invalid", `${name} ${first?.detail ?? "does not fit"}.`, { members: { errors } });
}

function pointerOf(path: readonly PropertyKey[]): string {
  return path.reduce<string>((pointer, part) => childPointer(pointer, String(part)), "");
}

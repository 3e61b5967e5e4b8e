import { JsonError, type JsonLimits, type JsonValue, parseJson } from "@attestd/proof/json";
import type { z } from "zod";
import { Problem } from "./problems.ts";

/** One member at fault, by JSON pointer (RFC 6901). */
export type InputError = { pointer: string; detail: string };

/** Parses strict JSON. @throws Problem `body_not_json` */
export function parseInput(bytes: Uint8Array | string, limits?: JsonLimits): JsonValue {
  try {
    return parseJson(bytes, limits);
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    const { pointer, message } = error;
    throw new Problem("body_not_json", message, { members: { errors: [{ pointer, detail: message }] } });
  }
}

/** Holds a value to its schema. @throws Problem `body_invalid` naming each member at fault */
export function validate<T>(schema: z.ZodType<T>, value: unknown): T {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const errors = parsed.error.issues.flatMap((issue) =>
    issue.code === "unrecognized_keys"
      ? issue.keys.map((key) => ({ pointer: pointerOf([...issue.path, key]), detail: "is not a member here" }))
      : [{ pointer: pointerOf(issue.path), detail: issue.message }],
  );
  throw invalid(errors);
}

/** Input that parsed but cannot be meant. */
export function invalid(errors: InputError[]): Problem {
  const [first] = errors;
  const name = first?.pointer.slice(1) || "The body";
  return new Problem("body_invalid", `${name} ${first?.detail ?? "does not fit"}.`, { members: { errors } });
}

function pointerOf(path: readonly PropertyKey[]): string {
  return path.map((part) => `/${String(part).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}

import { JsonError, type JsonValue, parseJson } from "@attestd/proof/json";
import type { HttpBindings } from "@hono/node-server";
import type { Context } from "hono";
import type { z } from "zod";
import { Problem } from "../problems.ts";

export type HttpContext = Context<{ Bindings: HttpBindings }>;

/**
 * Reads a body up to a hard cap, whatever its length header says, without the web stream between (which costs 40 %).
 *
 * @throws Problem `body_too_large`
 */
export async function readBody(c: HttpContext, cap: number): Promise<Uint8Array> {
  const { incoming } = c.env;
  if (Number(incoming.headers["content-length"] ?? 0) > cap) throw tooLarge(cap);
  const chunks: Buffer[] = [];
  let size = 0;
  return new Promise((resolve, reject) => {
    const stop = () => incoming.off("data", onData).off("end", onEnd).off("error", onClose).off("close", onClose);
    const onData = (chunk: Buffer) => {
      size += chunk.length;
      if (size <= cap) return void chunks.push(chunk);
      stop();
      incoming.pause();
      reject(tooLarge(cap));
    };
    const onEnd = () => {
      stop();
      resolve(Buffer.concat(chunks, size));
    };
    const onClose = () => {
      stop();
      reject(incoming.errored ?? new Error("the client went away"));
    };
    incoming.on("data", onData).on("end", onEnd).on("error", onClose).on("close", onClose);
  });
}

function tooLarge(cap: number): Problem {
  return new Problem("body_too_large", `The body is larger than ${cap} bytes.`);
}

/** @throws Problem `media_type` unless the request says that its body is JSON */
export function requireJson(c: HttpContext): void {
  const type = c.env.incoming.headers["content-type"] ?? "";
  if (type.split(";", 1)[0]?.trim().toLowerCase() !== "application/json")
    throw new Problem("media_type", `The body's media type is ${type ? JSON.stringify(type) : "not given"}.`);
}

/** Parses strict JSON. @throws Problem `body_not_json` */
export function parseBody(bytes: Uint8Array): JsonValue {
  try {
    return parseJson(bytes);
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    throw new Problem("body_not_json", error.message, { members: { errors: [pointed(error.pointer, error.message)] } });
  }
}

/** Checks a body against its schema. @throws Problem `body_invalid` naming each member at fault by JSON pointer */
export function validate<T>(schema: z.ZodType<T>, value: JsonValue): T {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const errors = parsed.error.issues.flatMap((issue) =>
    issue.code === "unrecognized_keys"
      ? issue.keys.map((key) => pointed(pointer([...issue.path, key]), "is not a member here"))
      : [pointed(pointer(issue.path), issue.message)],
  );
  throw invalid(errors);
}

/** A body that parsed but cannot be meant. */
export function invalid(errors: { pointer: string; detail: string }[]): Problem {
  const [first] = errors;
  const name = first?.pointer.slice(1) || "The body";
  return new Problem("body_invalid", `${name} ${first?.detail ?? "does not fit"}.`, { members: { errors } });
}

function pointed(at: string, detail: string) {
  return { pointer: at, detail };
}

/** JSON pointer (RFC 6901). */
function pointer(path: readonly PropertyKey[]): string {
  return path.map((part) => `/${String(part).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}

import type { JsonObject } from "@attestd/proof/json";
import { z } from "zod";
import type { Endpoint } from "./catalogue.ts";
import { validate } from "./input.ts";
import type { DocumentOperation, ReadOperation, VerifyOperation } from "./operations.ts";
import { Problem } from "./problems.ts";

/**
 * What agents give an endpoint: the members of its path, its query and its body, side by side in one object.
 *
 * @returns JSON of an object: what the endpoint answers
 * @throws Problem as the operation does, and for arguments that the endpoint does not have or that are too large
 */
export async function askFree(
  endpoint: Endpoint,
  operation: VerifyOperation | ReadOperation | DocumentOperation,
  args: JsonObject,
): Promise<string> {
  switch (operation.kind) {
    case "verify": {
      const { query, body } = divide(args, endpoint);
      return JSON.stringify(await operation.verify(encodeWithin(body, endpoint), { chain: query.chain !== undefined }));
    }
    case "read":
      return (await operation.read(parameters(args, endpoint))).text;
    case "document":
      parameters(args, endpoint);
      return operation.text();
  }
}

/** @returns UTF-8 JSON @throws Problem `body_too_large` beyond what the endpoint takes over HTTP */
export function encodeWithin(value: unknown, { body }: Endpoint): Uint8Array {
  const bytes = Buffer.from(JSON.stringify(value));
  const cap = body?.maxBytes ?? 0;
  if (bytes.length > cap) throw new Problem("body_too_large", `The arguments are larger than ${cap} bytes.`);
  return bytes;
}

/** Takes the members of the endpoint's query out of the arguments; what is left is the body. */
function divide(args: JsonObject, { query: schema = z.object() }: Endpoint) {
  const left = Object.entries(args).filter(([name]) => !Object.hasOwn(schema.shape, name));
  return { query: validate(schema, args), body: Object.fromEntries(left) };
}

/** The parameters of the endpoint's path, of which nothing else may be among the arguments. */
function parameters(args: JsonObject, { params = z.object() }: Endpoint): Readonly<Record<string, string>> {
  return validate(params.strict(), args) as Record<string, string>;
}

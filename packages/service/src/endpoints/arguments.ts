import type { JsonObject } from "@attestd/proof/json";
import { z } from "zod";
import type { Catalogue, Endpoint } from "../catalogue/catalogue.ts";
import { validate } from "../catalogue/input.ts";
import { Problem } from "../problems.ts";
import type { MessageForm } from "./messages.ts";
import type { DocumentOperation, Operations, ReadOperation, VerifyOperation } from "./operations.ts";

/** What agents give an endpoint: the members of its path, its query and its body, side by side in one object. */
export type Arguments = {
  members: JsonObject;
  /** Of an endpoint that verifies, what would be its body, as JSON in UTF-8; it is not among the members. */
  bundle: Uint8Array | undefined;
};

/**
 * How a protocol's messages carry bundles for the endpoints that verify.
 *
 * @param nameOf the endpoint's name in the protocol; undefined where the protocol does not have it
 * @param beside members of the arguments that the protocol itself has there
 */
export function messageForm(
  protocol: MessageForm["protocol"],
  { catalogue, operations }: { catalogue: Catalogue; operations: Operations },
  nameOf: (endpoint: Endpoint) => string | undefined,
  beside: readonly string[] = [],
): MessageForm {
  const endpoints = Object.entries(catalogue).flatMap(([id, one]) => (operations[id]?.kind === "verify" ? [one] : []));
  const ofQuery = endpoints.flatMap(({ query }) => Object.keys(query?.shape ?? {}));
  return {
    protocol,
    verifying: endpoints.flatMap((endpoint) => nameOf(endpoint) ?? []),
    beside: [...new Set([...beside, ...ofQuery])],
  };
}

/**
 * Asks an endpoint that is free.
 *
 * @returns JSON of an object: what the endpoint answers
 * @throws Problem as the operation does, and for arguments that the endpoint does not have or that are too large
 */
export async function askFree(
  endpoint: Endpoint,
  operation: VerifyOperation | ReadOperation | DocumentOperation,
  { members, bundle = EMPTY }: Arguments,
): Promise<string> {
  switch (operation.kind) {
    case "verify": {
      const { chain } = validate(endpoint.query ?? z.object(), members);
      return JSON.stringify(await operation.verify(within(bundle, endpoint), { chain: chain !== undefined }));
    }
    case "read":
      return (await operation.read(parameters(members, endpoint))).text;
    case "document":
      parameters(members, endpoint);
      return operation.text();
  }
}

/** @returns UTF-8 JSON @throws Problem `body_too_large` beyond what the endpoint takes over HTTP */
export function encodeWithin(value: unknown, endpoint: Endpoint): Uint8Array {
  return within(Buffer.from(JSON.stringify(value)), endpoint);
}

function within(bytes: Uint8Array, { body }: Endpoint): Uint8Array {
  const cap = body?.maxBytes ?? 0;
  if (bytes.length > cap) throw new Problem("body_too_large", `The arguments are larger than ${cap} bytes.`);
  return bytes;
}

/** Of a call that brings no bundle at all. */
const EMPTY = Buffer.from("{}");

/** The parameters of the endpoint's path, of which nothing else may be among the arguments. */
function parameters(args: JsonObject, { params = z.object() }: Endpoint): Readonly<Record<string, string>> {
  return validate(params.strict(), args) as Record<string, string>;
}

import type { JsonObject } from "@attestd/proof/json";
import { z } from "zod";
import type { Catalogue, Endpoint } from "../catalogue/catalogue.ts";
import { validate } from "../catalogue/input.ts";
import { Problem } from "../problems.ts";
import type { MessageForm } from "./messages.ts";
import type { DocumentOperation, Operations, ReadOperation, VerifyOperation } from "./operations.ts";

/** An agent's arguments: the members of the endpoint's path, query and body, side by side in one object. */
export type Arguments = {
  members: JsonObject;
  /** For an endpoint that verifies: what over HTTP is its body, as JSON in UTF-8. It is not among the members. */
  bundle: Uint8Array | undefined;
};

/**
 * How the messages of a protocol carry bundles for the endpoints that verify.
 *
 * @param nameOf the endpoint's name in the protocol; undefined where the protocol does not have it
 * @param beside arguments that the protocol itself adds
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
 * Calls a free endpoint.
 *
 * @returns its answer, the JSON of an object
 * @throws Problem as the operation does, and for arguments that are unknown or too large
 */
export async function callFree(
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

/** @throws Problem `body_too_large` for arguments above the endpoint's limit over HTTP */
export function requireSize(members: JsonObject, endpoint: Endpoint): void {
  within(Buffer.from(JSON.stringify(members)), endpoint);
}

function within(bytes: Uint8Array, { body }: Endpoint): Uint8Array {
  const cap = body?.maxBytes ?? 0;
  if (bytes.length > cap) throw new Problem("body_too_large", `The arguments are larger than ${cap} bytes.`);
  return bytes;
}

/** Stands for the bundle of a call that has none. */
const EMPTY = Buffer.from("{}");

/** The parameters of the endpoint's path. @throws Problem `body_invalid` for any other argument */
function parameters(args: JsonObject, { params = z.object() }: Endpoint): Readonly<Record<string, string>> {
  return validate(params.strict(), args) as Record<string, string>;
}

import type { JsonObject } from "@attestd/proof/json";
import { z } from "zod";
import type { Catalogue, Endpoint } from "../../catalogue/catalogue.ts";
import { validate } from "../../catalogue/input.ts";
import { LongList } from "../../catalogue/long-list.ts";
import { Problem } from "../../lib/problems.ts";
import { type Verdict, verifiedReport } from "../../verification/verifier.ts";
import type { MessageForm } from "./messages.ts";
import type { FreeOperation, Operation, Operations, VerifyOperation } from "./operations.ts";
import { fullText } from "./text.ts";

/** An agent's arguments: the members of the endpoint's path, query and body, merged into one object. */
export type Arguments = {
  members: JsonObject;
  /** For an endpoint that verifies: its HTTP body, as JSON in UTF-8. Its members are not among `members`. */
  bundle: Uint8Array | undefined;
};

/** An endpoint that a protocol offers to agents. */
export type Offered = { endpoint: Endpoint; operation: Operation };

/** Returns the endpoints that a protocol offers, by name. @param nameOf undefined if the protocol does not offer it */
export function offeredBy(
  { catalogue, operations }: { catalogue: Catalogue; operations: Operations },
  nameOf: (endpoint: Endpoint) => string | undefined,
): Map<string, Offered> {
  const offered = new Map<string, Offered>();
  for (const [id, endpoint] of Object.entries(catalogue)) {
    const name = nameOf(endpoint);
    const operation = operations[id];
    if (name !== undefined && operation) offered.set(name, { endpoint, operation });
  }
  return offered;
}

/**
 * Describes how a protocol's messages carry bundles to verify.
 * @param extra arguments that the protocol itself adds
 */
export function messageForm(
  protocol: MessageForm["protocol"],
  offered: ReadonlyMap<string, Offered>,
  extra: readonly string[] = [],
): MessageForm {
  const verifying = [...offered].filter(([, { operation }]) => operation.kind === "verify");
  const ofQuery = verifying.flatMap(([, { endpoint }]) => Object.keys(endpoint.query?.shape ?? {}));
  return {
    protocol,
    verifying: verifying.map(([name]) => name),
    extra: [...new Set([...extra, ...ofQuery])],
  };
}

/**
 * Calls a free endpoint.
 *
 * @returns its answer, the JSON of an object
 * @throws Problem as the operation does, and for arguments that are unknown or too large
 */
export async function callFree(endpoint: Endpoint, operation: FreeOperation, call: Arguments): Promise<string> {
  const { members } = call;
  switch (operation.kind) {
    case "verify":
      return JSON.stringify(verifiedReport(await callVerify(endpoint, operation, call)));
    case "read": {
      const given = parameters(members, endpoint);
      const found = await operation.read(given, given);
      if (!("open" in found)) return found.text.toString();
      return fullText(await found.open());
    }
    case "document":
      parameters(members, endpoint);
      return operation.text();
  }
}

/** Calls an endpoint that verifies. @throws Problem as the operation does, and for arguments that are unknown or too large */
export function callVerify(
  endpoint: Endpoint,
  operation: VerifyOperation,
  { members, bundle = NO_BUNDLE }: Arguments,
): Promise<Verdict> {
  const { chain } = validate(endpoint.query ?? z.object(), members);
  requireBytes(bundle.length, endpoint);
  return operation.verify(bundle, { chain: chain !== undefined });
}

/** @throws Problem `body_too_large` for arguments above the endpoint's limit over HTTP */
export function requireSize(members: JsonObject, endpoint: Endpoint): void {
  const unread: unknown = members.items;
  const bytes = Buffer.byteLength(JSON.stringify(members));
  requireBytes(unread instanceof LongList ? bytes + Buffer.byteLength(unread.json) : bytes, endpoint);
}

function requireBytes(bytes: number, { body }: Endpoint): void {
  const cap = body?.maxBytes ?? 0;
  if (bytes > cap) throw new Problem("body_too_large", `The arguments are larger than ${cap} bytes.`);
}

const NO_BUNDLE = Buffer.from("{}");

/**
 * Reads the parameters of the endpoint's path and query from one object. @throws Problem `body_invalid` for any other
 * argument
 */
function parameters(args: JsonObject, { params = z.object(), query = z.object() }: Endpoint) {
  return validate(params.extend(query.shape).strict(), args) as Readonly<Record<string, string>>;
}

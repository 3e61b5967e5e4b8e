import { isProofError, parseJson } from "@attestd/proof";
import type { JsonLimits, JsonObject, JsonValue } from "@attestd/proof/json";
import { REQUEST_LIMITS } from "../catalogue/input.ts";

/** How the messages of a protocol carry a bundle that is to be verified. */
export type MessageForm = {
  protocol: keyof typeof FIND_CALL;
  /** The tools or skills that take a bundle. */
  verifying: readonly string[];
  /** Their arguments that are not members of the bundle. */
  beside: readonly string[];
};

/**
 * A message that was read, or why it was not. A bundle is taken out of it, as JSON in UTF-8: the rest is as small as any
 * request.
 */
export type MessageRead =
  | { message: JsonValue; bundle?: Uint8Array }
  | { notJson: string; pointer: string }
  | { tooLarge: string };

/** Reads a message; a large one in the worker pool. @throws Problem `over_capacity` */
export type ReadMessage = (body: Uint8Array, form: MessageForm) => Promise<MessageRead>;

/** The largest bundle, and a request around it, in bytes. */
export const MAX_MESSAGE_BYTES = (2048 + 96) * 1024;
/** The largest request of a paid route, its metadata, and the message around both, in bytes. */
export const MAX_REQUEST_BYTES = (64 + 16 + 16) * 1024;
/** Of `_meta` and of `metadata`, in bytes: they have the payment, which over HTTP must fit into 16 KB of headers. */
const MAX_METADATA_BYTES = 16 * 1024;
/** A bundle lies six deep in a message of A2A, three deep in one of MCP. */
const LIMITS = { maxSize: MAX_MESSAGE_BYTES, maxDepth: 16 + 6, maxMembers: 4096 + REQUEST_LIMITS.maxMembers };

/** Clients of A2A 1.x write JSON as protobuf does. The bundle that is taken out of a message is spelled canonically. */
function limitsOf({ protocol }: MessageForm): JsonLimits {
  return { ...LIMITS, allowPointZero: protocol === "a2a" };
}

/** Reads a message in the calling thread. @param body UTF-8 */
export function readMessage(body: Uint8Array, form: MessageForm): MessageRead {
  try {
    return take(parseJson(body, limitsOf(form)), form, (text) => readText(text));
  } catch (error) {
    return refusal(error);
  }
}

/** Reads a message of no more bytes and members than a request may have. @returns undefined for a larger one */
export function readSmallMessage(body: Uint8Array, form: MessageForm): MessageRead | undefined {
  if (body.length > MAX_REQUEST_BYTES) return undefined;
  const limits = { ...limitsOf(form), ...REQUEST_LIMITS };
  try {
    return take(parseJson(body, limits), form, (text) => readText(text, limits));
  } catch (error) {
    return isTooMany(error) ? undefined : refusal(error);
  }
}

function take(message: JsonValue, form: MessageForm, read: ReadText): MessageRead {
  const { args, about } = FIND_CALL[form.protocol](message, form, read);
  const bundle = args && takeBundle(args, form);
  const tooLarge = excess(message, about, bundle === undefined);
  if (tooLarge !== undefined) return { tooLarge };
  return { message, ...(bundle && { bundle }) };
}

/** @throws every error that is not about the JSON */
function refusal(error: unknown): MessageRead {
  if (isProofError(error, "json")) return { notJson: error.message, pointer: error.pointer };
  throw error;
}

function isTooMany(error: unknown): boolean {
  return isProofError(error, "json") && error.fault === "too_many";
}

/** A call in a message: its arguments, where it verifies a bundle, and the metadata that the protocol has beside them. */
type FoundCall = { args: JsonObject | undefined; about: readonly (JsonValue | undefined)[] };

const FIND_CALL = {
  /** JSON-RPC, `tools/call`. */
  mcp(message: JsonValue, { verifying }: MessageForm): FoundCall {
    const { method, params } = membersOf(message);
    const { name, arguments: args, _meta } = membersOf(params);
    const verifies = method === "tools/call" && typeof name === "string" && verifying.includes(name);
    return { args: verifies ? membersOf(args) : undefined, about: [_meta] };
  },

  /** JSON-RPC, `message/send`: a part of the message, data or a text that is the JSON of it, names the skill. */
  a2a(message: JsonValue, { verifying }: MessageForm, read: ReadText): FoundCall {
    const { message: said, metadata } = membersOf(membersOf(message).params);
    const { parts, metadata: ofMessage } = membersOf(said);
    const calls = (Array.isArray(parts) ? parts : []).map((part) => withData(membersOf(part), read));
    const args = calls.find(({ skill }) => typeof skill === "string" && verifying.includes(skill));
    return { args, about: [metadata, ofMessage] };
  },
};

/** The data of a part. A text that is the JSON of an object becomes data. */
function withData(part: JsonObject, readText: ReadText): JsonObject {
  const { kind, text, data } = part;
  if (kind === "data") return membersOf(data);
  if (kind !== "text" || typeof text !== "string" || !text.trimStart().startsWith("{")) return {};
  const read = readText(text);
  if (read === undefined) return {};
  delete part.text;
  Object.assign(part, { kind: "data", data: read });
  return membersOf(read);
}

/** The JSON of a text. */
type ReadText = (text: string) => JsonValue | undefined;

/**
 * @returns undefined where the text is not strict JSON: it stays as it is, and the transport refuses it
 * @throws ProofError `json` where it has more members than the given limits allow
 */
function readText(text: string, limits?: JsonLimits): JsonValue | undefined {
  try {
    return parseJson(text, limits ?? LIMITS);
  } catch (error) {
    if (limits && isTooMany(error)) throw error;
    return undefined;
  }
}

/** Takes the members of the bundle out of the arguments. @returns its JSON, UTF-8 */
function takeBundle(args: JsonObject, { beside }: MessageForm): Uint8Array {
  const bundle: JsonObject = {};
  for (const [name, value] of Object.entries(args)) {
    if (beside.includes(name)) continue;
    bundle[name] = value;
    delete args[name];
  }
  // In a buffer of its own, which a worker can transfer.
  return new TextEncoder().encode(JSON.stringify(bundle));
}

/** Describes what is too large in a message without its bundle. @returns undefined where nothing is */
function excess(message: JsonValue, about: FoundCall["about"], isWhole: boolean): string | undefined {
  if (about.some((said) => said !== undefined && sizeOf(said) > MAX_METADATA_BYTES))
    return `The metadata of the call is larger than ${MAX_METADATA_BYTES} bytes.`;
  const beside = isWhole ? "" : " beside the bundle";
  if (sizeOf(message) > MAX_REQUEST_BYTES) return `The message is larger than ${MAX_REQUEST_BYTES} bytes${beside}.`;
  const { maxMembers } = REQUEST_LIMITS;
  if (countMembers(message) > maxMembers) return `The message has more than ${maxMembers} members and items${beside}.`;
  return undefined;
}

function sizeOf(value: JsonValue): number {
  return Buffer.byteLength(JSON.stringify(value));
}

/** Members of all objects and items of all arrays, as the parser counts them. */
function countMembers(value: JsonValue): number {
  if (typeof value !== "object" || value === null) return 0;
  const held = Object.values(value);
  return held.reduce<number>((sum, one) => sum + countMembers(one), held.length);
}

/** The members of an object; no members for any other value. */
export function membersOf(value: JsonValue | undefined): JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value : {};
}

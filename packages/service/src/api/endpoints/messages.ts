import { isProofError, parseJson } from "@attestd/proof";
import { isObject, type JsonLimits, type JsonObject, type JsonValue } from "@attestd/proof/json";
import { INPUT_LIMITS, REQUEST_LIMITS } from "../../catalogue/input.ts";
import { takeLongList } from "../../catalogue/long-list.ts";

/** How a protocol's messages carry a bundle to verify. */
export type MessageForm = {
  protocol: keyof typeof FIND_CALL;
  /** The tools or skills that take a bundle. */
  verifying: readonly string[];
  /** Their arguments that are not members of the bundle. */
  extra: readonly string[];
};

/**
 * A message, or why it cannot be read. Its bundle is taken out, as JSON in UTF-8, and a long list of transactions is
 * not parsed (`LongList`). The rest is as small as any request.
 */
export type MessageRead =
  | { message: JsonValue; bundle?: Uint8Array }
  | { notJson: string; pointer: string }
  | { tooLarge: string };

/** Reads a message, a large one in the worker pool. @throws Problem `over_capacity` */
export type ReadMessage = (body: Uint8Array, form: MessageForm) => Promise<MessageRead>;

/** The largest bundle and the request around it, in bytes. */
export const MAX_MESSAGE_BYTES = (2048 + 96) * 1024;
/** A request's metadata and the message around both, in bytes. */
const AROUND_BYTES = (16 + 16) * 1024;
/** The largest request without a bundle or a list, with its metadata and the message around both, in bytes. */
const MAX_REQUEST_BYTES = 64 * 1024 + AROUND_BYTES;
/** The same with the longest list, in bytes. */
const MAX_SMALL_BYTES = MAX_REQUEST_BYTES + 256 * 1024;
/**
 * The limit of `_meta` and `metadata`, which contain the payment, in bytes. Over HTTP a payment must fit into 16 KB of
 * headers.
 */
const MAX_METADATA_BYTES = 16 * 1024;
/** A bundle is nested six deep in an A2A message, three deep in an MCP message. */
const LIMITS = {
  maxSize: MAX_MESSAGE_BYTES,
  maxDepth: 16 + 6,
  maxMembers: 4096 + REQUEST_LIMITS.maxMembers,
  allowFractions: true,
};

/**
 * Returns a protocol's limits. Clients of A2A 1.x write integers like protobuf's JSON (`1.0`); in a bundle that is
 * taken out they become `1`.
 */
function limitsOf({ protocol }: MessageForm): JsonLimits {
  return { ...LIMITS, allowPointZero: protocol === "a2a" };
}

/** Reads a message in the calling thread. @param body UTF-8 */
export function readMessage(body: Uint8Array, form: MessageForm): MessageRead {
  try {
    return takeOut(parseJson(body, limitsOf(form)), form, (text) => readText(text));
  } catch (error) {
    return refusal(error);
  }
}

/** Reads a message within the limits of requests. @returns undefined for a larger message */
export function readSmallMessage(body: Uint8Array, form: MessageForm): MessageRead | undefined {
  if (body.length > MAX_SMALL_BYTES) return undefined;
  const limits = { ...limitsOf(form), ...REQUEST_LIMITS };
  const takeArray: JsonLimits["takeArray"] = (text, offset, path) =>
    LIST_AT[form.protocol](path) ? takeLongList(text, offset) : undefined;
  try {
    const message = parseJson(body, { ...limits, takeArray });
    return takeOut(message, form, (text) => readText(text, { ...limits, ...INPUT_LIMITS }));
  } catch (error) {
    return isTooMany(error) ? undefined : refusal(error);
  }
}

/** Whether a path leads to a call's argument `items` (`FIND_CALL`). */
const LIST_AT: Record<keyof typeof FIND_CALL, (path: readonly (string | number)[]) => boolean> = {
  mcp: (path) => path.length === 3 && path[1] === "arguments" && path[2] === "items",
  a2a: (path) => path.length === 6 && path[2] === "parts" && path[4] === "data" && path[5] === "items",
};

/** Takes the bundle out of a message. */
function takeOut(message: JsonValue, form: MessageForm, read: ReadText): MessageRead {
  const { name = "", args, metadata } = FIND_CALL[form.protocol](message, form, read);
  const bundle = args && form.verifying.includes(name) ? takeBundle(args, form) : undefined;
  const tooLarge = excess(message, metadata, bundle === undefined);
  if (tooLarge !== undefined) return { tooLarge };
  return { message, ...(bundle && { bundle }) };
}

/** @throws every error that is not a fault of the JSON */
function refusal(error: unknown): MessageRead {
  if (isProofError(error, "json")) return { notJson: error.message, pointer: error.pointer };
  throw error;
}

function isTooMany(error: unknown): boolean {
  return isProofError(error, "json") && error.fault === "too_many";
}

/** A message's metadata; if it calls a tool or skill, also its name and arguments. */
type FoundCall = {
  name?: string | undefined;
  args?: JsonObject | undefined;
  metadata: readonly (JsonValue | undefined)[];
};

const FIND_CALL = {
  /** JSON-RPC, `tools/call`. */
  mcp(message: JsonValue): FoundCall {
    const { method, params } = membersOf(message);
    const { name, arguments: args, _meta } = membersOf(params);
    const isCall = method === "tools/call" && typeof name === "string";
    return { ...(isCall && { name, args: membersOf(args) }), metadata: [_meta] };
  },

  /** JSON-RPC, `message/send`: a part of the message names the skill, as data or as JSON text. */
  a2a(message: JsonValue, { verifying }: MessageForm, read: ReadText): FoundCall {
    const { message: sent, metadata: ofParams } = membersOf(membersOf(message).params);
    const { parts, metadata: ofMessage } = membersOf(sent);
    const calls = (Array.isArray(parts) ? parts : []).map((part) => withData(membersOf(part), read));
    const args = calls.find(({ skill }) => typeof skill === "string" && verifying.includes(skill));
    return { name: args?.skill as string | undefined, args, metadata: [ofParams, ofMessage] };
  },
};

/** Returns a part's data. A text that is a JSON object becomes data. */
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

type ReadText = (text: string) => JsonValue | undefined;

/**
 * @returns undefined if the text is not strict JSON: the transport refuses it
 * @throws ProofError `json` if it has more members than the given limits allow
 */
function readText(text: string, limits?: JsonLimits): JsonValue | undefined {
  try {
    return parseJson(text, limits ?? LIMITS);
  } catch (error) {
    if (limits && isTooMany(error)) throw error;
    return undefined;
  }
}

/** Takes the bundle's members out of the arguments. @returns its JSON, UTF-8 */
function takeBundle(args: JsonObject, { extra }: MessageForm): Uint8Array {
  const bundle: JsonObject = {};
  for (const [name, value] of Object.entries(args)) {
    if (extra.includes(name)) continue;
    bundle[name] = value;
    delete args[name];
  }
  // Its own buffer, so that it can be transferred to a worker.
  return new TextEncoder().encode(JSON.stringify(bundle));
}

/** Returns why a message without its bundle is too large; undefined if it is not. */
function excess(message: JsonValue, metadata: FoundCall["metadata"], isWhole: boolean): string | undefined {
  if (metadata.some((one) => one !== undefined && sizeOf(one) > MAX_METADATA_BYTES))
    return `The metadata of the call is larger than ${MAX_METADATA_BYTES} bytes.`;
  const scope = isWhole ? "" : " without the bundle";
  if (sizeOf(message) > MAX_REQUEST_BYTES) return `The message is larger than ${MAX_REQUEST_BYTES} bytes${scope}.`;
  const { maxMembers } = REQUEST_LIMITS;
  if (countMembers(message) > maxMembers) return `The message has more than ${maxMembers} members and items${scope}.`;
  return undefined;
}

function sizeOf(value: JsonValue): number {
  return Buffer.byteLength(JSON.stringify(value));
}

/** Counts the members of all objects and items of all arrays like the parser. */
function countMembers(value: JsonValue): number {
  if (typeof value !== "object" || value === null) return 0;
  const members = Object.values(value);
  return members.reduce<number>((sum, member) => sum + countMembers(member), members.length);
}

/** Returns an object's members; none for any other value. */
export function membersOf(value: JsonValue | undefined): JsonObject {
  return isObject(value) ? value : {};
}

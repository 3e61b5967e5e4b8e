import type { z } from "zod";
import type { ProblemCode } from "../lib/problems.ts";
import type { HeaderName } from "./headers.ts";

/** The form of a successful answer, or of a 402. Every other answer is a problem. */
export type Reply = {
  description: string;
  schema: z.ZodType;
  /** Default: `application/json`. */
  mediaType?: string;
  /** Another form, requested with `Accept`. */
  alternative?: { mediaType: string; schema: z.ZodType };
  headers?: readonly HeaderName[];
  example?: unknown;
};

export type RequestBody = {
  schema: z.ZodType;
  maxBytes: number;
  description: string;
  /** By name. */
  examples?: Readonly<Record<string, unknown>>;
};

/** An endpoint as an MCP tool. Its input and output are the endpoint's own. */
export type Tool = {
  name: string;
  title: string;
  /** MCP's hints, all of them set. */
  annotations: { readOnlyHint: boolean; destructiveHint: boolean; idempotentHint: boolean; openWorldHint: boolean };
};

/** An endpoint as an A2A skill (0.3.0, AgentSkill). Its description and examples are the endpoint's own. */
export type Skill = { id: string; name: string; tags: readonly string[] };

/** One endpoint: its route, schemas, description, and names for agents. */
export type Endpoint = {
  method: "GET" | "POST";
  /** `:name` is a path parameter. */
  path: string;
  access: "free" | "paid";
  /** Whether it sells several subjects in one call; each adds to the price. */
  isBatch?: boolean;
  /** The endpoint's group in the documents. */
  tag: "attest" | "verify" | "read" | "operate" | "documents";
  /** One line, without a full stop. */
  summary: string;
  /** Plain sentences, for programmers and for models. */
  description: string;
  /** One member for each `:name` of the path. An invalid value is answered with 404. */
  params?: z.ZodObject;
  /** An invalid value is answered with `query_invalid`; parameters that are not listed are ignored. */
  query?: z.ZodObject;
  body?: RequestBody;
  /** By status. */
  replies: Readonly<Record<number, Reply>>;
  /** The problems with which it may answer, besides `ALWAYS_POSSIBLE`. */
  problems: readonly ProblemCode[];
  /** Value of Cache-Control on success. Default: `no-store`. */
  cacheControl?: string;
  /** Whether a browser (Accept: text/html) gets the page instead, with the same content. */
  hasView?: boolean;
  tool?: Tool;
  skill?: Skill;
};

/** Returns an endpoint's tool and skill, which are named after its path. */
export function forAgents(path: string, title: string, annotations: Tool["annotations"], tags: Skill["tags"]) {
  const id = path.slice(1);
  return {
    tool: { name: id.replaceAll("-", "_"), title, annotations },
    skill: { id, name: title, tags },
  };
}

/** Endpoints by name. */
export type Catalogue = Readonly<Record<string, Endpoint>>;

/** Problems with which any endpoint may answer. */
export const ALWAYS_POSSIBLE = ["too_many_requests", "internal"] as const satisfies readonly ProblemCode[];

import { gunzipSync } from "node:zlib";
import type { Seams } from "@attestd/service";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";

type Header = { required?: boolean; schema: object };
type Media = { schema: object };
type Response = { headers?: Record<string, { $ref: string }>; content?: Record<string, Media> };
type Operation = { operationId: string; responses: Record<string, Response> };

/** An OpenAPI document as the service serves it. */
export type OpenApiDocument = {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, object>; headers: Record<string, Header> };
};

/** An answer of the service, whole. */
export type Exchange = { method: string; path: string; status: number; headers: Headers; text: string };

/** Tells what in an answer the document does not say. */
export type Contract = (exchange: Exchange) => string[];

/** Holds answers to an OpenAPI document: their status, media type, headers and body. */
export function contractOf(document: OpenApiDocument): Contract {
  const ajv = addFormats.default(new Ajv2020({ strict: false, logger: false }));
  ajv.addSchema(document, "document");
  const compiled = new Map<string, ValidateFunction>();
  const validator = (pointer: string) => {
    const known = compiled.get(pointer) ?? ajv.compile({ $ref: `document#${pointer}` });
    compiled.set(pointer, known);
    return known;
  };
  const fits = (pointer: string, value: unknown, what: string) => {
    const validate = validator(pointer);
    return validate(value) ? [] : [`${what} ${ajv.errorsText(validate.errors)}`];
  };

  const templates = Object.keys(document.paths).map((template) => ({
    template,
    matches: new RegExp(`^${template.replaceAll(".", "\\.").replaceAll(/\{\w+\}/g, "[^/]+")}$`),
  }));

  return ({ method, path, status, headers, text }) => {
    const template = templates.find(({ matches }) => matches.test(path))?.template;
    const asked = method === "HEAD" ? "get" : method.toLowerCase();
    const operation = template === undefined ? undefined : document.paths[template]?.[asked];
    if (template === undefined || !operation) return unrouted(method, status, text);
    const described = operation.responses[status];
    if (!described) return [`status ${status} is not among ${Object.keys(operation.responses)}`];
    const at = `/paths/${inPointer(template)}/${asked}/responses/${status}`;
    return [
      ...headerFaults(described, headers),
      ...(text === "" && (method === "HEAD" || !described.content) ? [] : bodyFaults(described, at, headers, text)),
    ];
  };

  function headerFaults({ headers: described = {} }: Response, headers: Headers): string[] {
    return Object.keys(described).flatMap((name) => {
      const value = headers.get(name);
      if (value !== null) return fits(`/components/headers/${name}/schema`, value, `header ${name}`);
      return document.components.headers[name]?.required ? [`header ${name} is missing`] : [];
    });
  }

  function bodyFaults({ content = {} }: Response, at: string, headers: Headers, text: string): string[] {
    const type = headers.get("content-type")?.split(";")[0] ?? "none";
    if (!content[type]) return [`media type ${type} is not among ${Object.keys(content)}`];
    const pointer = `${at}/content/${inPointer(type)}/schema`;
    return type.endsWith("json") ? jsonFaults(pointer, text) : fits(pointer, text, "body");
  }

  /** Where there is no operation, there may be a page for people; else the answer is a problem. */
  function unrouted(method: string, status: number, text: string): string[] {
    if (status < 400 || method === "HEAD") return [];
    return jsonFaults("/components/schemas/Problem", text);
  }

  function jsonFaults(pointer: string, text: string): string[] {
    try {
      return fits(pointer, JSON.parse(text), "body");
    } catch {
      return [`body is not JSON: ${JSON.stringify(text)}`];
    }
  }
}

/** RFC 6901, in a URI fragment. */
function inPointer(part: string): string {
  return encodeURIComponent(part.replaceAll("~", "~0").replaceAll("/", "~1"));
}

/** How the service answers, from inside (`Seams.fetch`). */
export type Answering = Parameters<NonNullable<Seams["fetch"]>>[0];

/** Paths of other protocols, which have their own forms of answers. */
const OTHER_PROTOCOLS = ["/mcp", "/a2a"];

/** Lets the service answer as it does, and tells of every answer that its own OpenAPI document does not describe. */
export function heldToContract(fetch: Answering, tell: (fault: string) => void): Answering {
  let contract: Promise<Contract> | undefined;
  return async (request, env) => {
    const response = await fetch(request, env);
    const { method } = request;
    const path = new URL(request.url).pathname;
    if (OTHER_PROTOCOLS.includes(path)) return response;
    contract ??= documentBehind(fetch).then(contractOf);
    const { status, headers } = response;
    const text = await decoded(response.clone());
    for (const fault of (await contract)({ method, path, status, headers, text }))
      tell(`${method} ${path} ${status}: ${fault}`);
    return response;
  };
}

/** The text of an answer as it is on its way, compressed perhaps. */
async function decoded(response: globalThis.Response): Promise<string> {
  const bytes = Buffer.from(await response.arrayBuffer());
  return (response.headers.get("content-encoding") === "gzip" ? gunzipSync(bytes) : bytes).toString();
}

async function documentBehind(fetch: Answering): Promise<OpenApiDocument> {
  const env = { incoming: { headers: {} } } as Parameters<Answering>[1];
  const response = await fetch(new Request("http://service/openapi.json"), env);
  return (await response.json()) as OpenApiDocument;
}

import { gunzipSync } from "node:zlib";
import type { Observe } from "@attestd/service";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";

type Header = { required?: boolean; schema: object };
type Media = { schema: object };
type Response = { headers?: Record<string, { $ref: string }>; content?: Record<string, Media> };
type Operation = {
  operationId: string;
  responses: Record<string, Response>;
  "x-codeSamples": { label: string; source: string }[];
};

/** An OpenAPI document as the service serves it. */
export type OpenApiDocument = {
  info: { version: string };
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, object>; headers: Record<string, Header> };
};

type Responses = Record<string, Record<string, Pick<Operation, "responses">>>;

/** An answer of the service. */
export type Exchange = { method: string; path: string; status: number; headers: Headers; text: string };

/** Lists the parts of an answer that the document does not describe. */
export type Contract = (exchange: Exchange) => string[];

/** One for all documents: it first compiles the schema of schemas, which takes as long as a document. */
const ajv = addFormats.default(new Ajv2020({ strict: false, logger: false }));

/** By what they read of a document, as JSON: compiling it takes longer than a test, and most services have the same. */
const contracts = new Map<string, Contract>();

/** Checks answers against an OpenAPI document: their status, media type, headers and body. */
export function contractOf({ paths, components }: OpenApiDocument): Contract {
  const responses = mapValues(paths, (operations) => mapValues(operations, ({ responses }) => ({ responses })));
  const read = JSON.stringify({ paths: responses, components });
  const known = contracts.get(read) ?? compiled(JSON.parse(read), `document${contracts.size}`);
  contracts.set(read, known);
  return known;
}

function mapValues<From, To>(record: Record<string, From>, map: (value: From) => To): Record<string, To> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, map(value)]));
}

function compiled(document: Pick<OpenApiDocument, "components"> & { paths: Responses }, name: string): Contract {
  ajv.addSchema(document, name);
  const validators = new Map<string, ValidateFunction>();
  const validator = (pointer: string) => {
    const known = validators.get(pointer) ?? ajv.compile({ $ref: `${name}#${pointer}` });
    validators.set(pointer, known);
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

  /** A path without an operation may be a file of the page; any other answer is a problem. */
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

/** Paths of other protocols, whose answers have other forms. */
const OTHER_PROTOCOLS = ["/mcp", "/a2a"];

export type ContractCheck = {
  /** Checks an answer, once the document is read. */
  observe: Observe;
  /** Reads the OpenAPI document of the service. @param url of the service */
  readDocument(url: string): Promise<void>;
};

/** Checks every answer of a service against its own OpenAPI document. @param report called with each fault */
export function createContractCheck(report: (fault: string) => void): ContractCheck {
  const { promise: contract, resolve } = Promise.withResolvers<Contract>();
  return {
    async observe({ method = "", url = "" }, { status, headers, body }) {
      const path = URL.parse(url, "http://service")?.pathname ?? url;
      if (OTHER_PROTOCOLS.includes(path) || body instanceof ReadableStream) return;
      const bytes = Buffer.from(body ?? "");
      const text = (headers["content-encoding"] === "gzip" ? gunzipSync(bytes) : bytes).toString();
      for (const fault of (await contract)({ method, path, status, headers: new Headers(headers), text }))
        report(`${method} ${path} ${status}: ${fault}`);
    },
    async readDocument(url) {
      const response = await fetch(`${url}/openapi.json`);
      resolve(contractOf((await response.json()) as OpenApiDocument));
    },
  };
}

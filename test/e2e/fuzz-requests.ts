import fc, { type Arbitrary } from "fast-check";
import type { OpenApiDocument } from "./contract.ts";

/* Requests drawn from an OpenAPI document: most are valid, others are corrupted in some part. */

/** A request, as text that any client could send. */
export type FuzzRequest = { method: string; path: string; headers: Record<string, string>; body?: string };

type Schema = {
  $ref?: string;
  anyOf?: Schema[];
  const?: unknown;
  enum?: unknown[];
  type?: string;
  pattern?: string;
  contentEncoding?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
};
type Parameter = { name: string; in: string; schema: Schema };
type Operation = {
  parameters?: (Parameter | { $ref: string })[];
  requestBody?: { content: Record<string, { schema: Schema; examples?: Record<string, { value: unknown }> }> };
};

/** Values that are valid in the tested service, beside the document's own. */
export type Known = {
  /** Delivered bundles, and the requests for them. */
  bodies: readonly unknown[];
  /** Payments: values of PAYMENT-SIGNATURE, decoded. */
  payments: readonly object[];
  ids: readonly string[];
};

/** @param document its operations with a body are called more often than the others */
export function requestsOf(document: OpenApiDocument, known: Known): Arbitrary<FuzzRequest> {
  const operations = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item as Record<string, Operation>).map(([method, operation]) => ({
      weight: operation.requestBody ? 5 : 1,
      arbitrary: requestOf(path, method, operation),
    })),
  );
  return fc.oneof(...operations);

  function requestOf(template: string, method: string, { parameters = [], requestBody }: Operation) {
    const named = parameters.filter((parameter): parameter is Parameter => "name" in parameter);
    // The one parameter that the document has by reference is PAYMENT-SIGNATURE.
    const paid = parameters.some((parameter) => "$ref" in parameter);
    const content = requestBody?.content["application/json"];
    const examples = Object.values(content?.examples ?? {}).map(({ value }) => value);
    const meant = content ? [fitting(content.schema), ...constants(examples), ...constants(known.bodies)] : [];
    return fc.record({
      method: often(
        fc.constant(method.toUpperCase()),
        fc.constantFrom("GET", "POST", "HEAD", "PUT", "DELETE", "OPTIONS"),
      ),
      path: pathOf(template, named),
      headers: fc
        .tuple(
          often(fc.constant("application/json"), fc.constantFrom("text/plain", "application/json; charset=utf-8", "")),
          paid ? fc.option(paymentHeader(), { freq: 2 }) : fc.constant(null),
          fc.option(fc.constantFrom("*", '"x"', 'W/"x", "y"', ","), { freq: 8 }),
        )
        .map(([type, payment, tag]) => ({
          ...(content && { "content-type": type }),
          ...(payment !== null && { "payment-signature": payment }),
          ...(tag !== null && { "if-none-match": tag }),
        })),
      ...(content && { body: textOf(fc.oneof(...meant)) }),
    });
  }

  function pathOf(template: string, parameters: Parameter[]): Arbitrary<string> {
    const others = fc.oneof(fc.constantFrom("", "0", "true", ...known.ids), fc.string());
    const values = Object.fromEntries(
      parameters.map(({ name, schema }) => [name, often(fitting(schema).map(String), others)]),
    );
    return fc.tuple(fc.record(values), fc.boolean()).map(([given, withQuery]) => {
      const query = new URLSearchParams();
      let path = template;
      for (const { name, in: place } of parameters) {
        const value = given[name] ?? "";
        // An empty path segment would be another path.
        if (place === "path") path = path.replace(`{${name}}`, segment(value || "-"));
        else if (withQuery) query.set(name, value);
      }
      return query.size > 0 ? `${path}?${query}` : path;
    });
  }

  /** A value that fits a schema. */
  function fitting(schema: Schema): Arbitrary<unknown> {
    if (schema.$ref) return fitting(resolve(schema.$ref));
    if (schema.anyOf) return fc.oneof(...schema.anyOf.map(fitting));
    if (schema.const !== undefined) return fc.constant(schema.const);
    if (schema.enum) return fc.constantFrom(...schema.enum);
    switch (schema.type) {
      case "string":
        return stringOf(schema);
      case "integer":
        return fc.integer({ min: Math.max(schema.minimum ?? 0, 0), max: Math.min(schema.maximum ?? 2 ** 31, 2 ** 31) });
      case "boolean":
        return fc.boolean();
      case "array":
        return fc.array(fitting(schema.items ?? {}), { maxLength: 3 });
      case "object": {
        const members = Object.entries(schema.properties ?? {}).map(([name, member]) => {
          const value = fitting(member);
          const isOptional = !schema.required?.includes(name);
          return [name, isOptional ? fc.option(value, { nil: undefined }) : value];
        });
        return fc.record(Object.fromEntries(members));
      }
      default:
        return fc.jsonValue({ maxDepth: 2 });
    }
  }

  function stringOf({ pattern, contentEncoding, minLength = 4, maxLength = 64 }: Schema): Arbitrary<string> {
    if (contentEncoding === "base64") {
      // The same byte everywhere: to draw long keys and signatures would take longer than to answer them.
      const length = Math.floor((minLength * 3) / 4) - (maxLength === minLength ? 1 : 0);
      return fc.integer({ min: 0, max: 255 }).map((byte) => Buffer.alloc(length, byte).toString("base64"));
    }
    return pattern === undefined ? fc.string({ maxLength: 70 }) : fc.stringMatching(new RegExp(pattern));
  }

  function resolve(pointer: string): Schema {
    return document.components.schemas[pointer.split("/").at(-1) as string] as Schema;
  }

  /** A body: a valid one, a corrupted one, or any other bytes. */
  function textOf(meant: Arbitrary<unknown>): Arbitrary<string> {
    const text = meant.map((value) => JSON.stringify(value));
    return fc.oneof(
      { weight: 5, arbitrary: text },
      { weight: 4, arbitrary: spoiled(meant).map((value) => JSON.stringify(value)) },
      { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 3 }).map((value) => JSON.stringify(value)) },
      { weight: 1, arbitrary: fc.tuple(text, fc.nat()).map(([whole, at]) => whole.slice(0, at % (whole.length + 1))) },
      { weight: 1, arbitrary: fc.oneof(fc.string(), fc.constantFrom("", "\uFEFF{}", ...NASTY)) },
    );
  }

  function paymentHeader(): Arbitrary<string> {
    const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64");
    const real = fc.constantFrom(...known.payments);
    return fc.oneof(
      { weight: 2, arbitrary: real.map(encode) },
      { weight: 4, arbitrary: spoiled(real).map(encode) },
      { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 3 }).map(encode) },
      { weight: 1, arbitrary: fc.stringMatching(/^[!-~]{0,80}$/) },
    );
  }
}

/** Texts on which parsers differ. */
const NASTY = [
  '{"txid":1,"txid":2}',
  '{"__proto__":{"txid":"x"}}',
  '{"txid":"\\ud800"}',
  '{"height":9007199254740993,"chain":"base"}',
  '{"height":"9007199254740993","chain":"base"}',
  '{"height":1e400,"chain":"algorand"}',
  `${"[".repeat(100)}${"]".repeat(100)}`,
  `{"a":${"[".repeat(17)}${"]".repeat(17)}}`,
  "null",
  "-0",
];

/** The first value in nine of ten draws. */
function often<T>(usual: Arbitrary<T>, unusual: Arbitrary<T>): Arbitrary<T> {
  return fc.oneof({ weight: 9, arbitrary: usual }, { weight: 1, arbitrary: unusual });
}

function constants(values: readonly unknown[]): Arbitrary<unknown>[] {
  return values.length === 0 ? [] : [fc.constantFrom(...values)];
}

/** Removes, replaces or alters one member at any depth, or adds one beside it. */
function spoiled(meant: Arbitrary<unknown>): Arbitrary<unknown> {
  const spoil = fc.constantFrom("drop", "replace", "alter", "add");
  return fc.tuple(meant, fc.nat(), spoil, fc.jsonValue({ maxDepth: 1 })).map(([value, at, how, other]) => {
    const copy = structuredClone(value);
    const places = placesIn(copy);
    const place = places[at % Math.max(places.length, 1)];
    if (!place) return other;
    const { holder, name } = place;
    if (how === "drop") delete holder[name];
    else if (how === "replace") holder[name] = other;
    else if (how === "add") holder.another = other;
    else holder[name] = altered(holder[name]);
    return copy;
  });
}

type Holder = Record<string, unknown>;

function placesIn(value: unknown): { holder: Holder; name: string }[] {
  if (typeof value !== "object" || value === null) return [];
  const holder = value as Holder;
  return Object.keys(holder).flatMap((name) => [{ holder, name }, ...placesIn(holder[name])]);
}

function altered(value: unknown): unknown {
  if (typeof value === "string") return `${value.slice(1)}${value.slice(0, 1)}`;
  if (typeof value === "number") return value + 1;
  return [value];
}

/** Percent-encodes characters that would end a segment, and replaces those that cannot be encoded. */
function segment(value: string): string {
  const encoded = encodeURIComponent(value.toWellFormed());
  return /^\.{1,2}$/.test(encoded) ? "-" : encoded;
}

import { z } from "zod";
import { SCHEMAS } from "../catalogue/schemas/registry.ts";

export type JsonSchema = { [keyword: string]: unknown };

const uri = (id: string) => `#/components/schemas/${id}`;

/**
 * Requests and replies are described as they are sent. Zod writes integers that are constant as numbers, and has a
 * format `base64` that JSON Schema does not (it says `contentEncoding`).
 */
const OPTIONS = {
  io: "input",
  override: ({ jsonSchema }: { jsonSchema: JsonSchema }) => {
    if (Number.isInteger(jsonSchema.const)) jsonSchema.type = "integer";
    if (jsonSchema.format === "base64") delete jsonSchema.format;
  },
} as const;

/** The named schemas, by name; they refer to one another. */
export function componentSchemas(): Record<string, JsonSchema> {
  const { schemas } = z.toJSONSchema(SCHEMAS, { ...OPTIONS, uri });
  return Object.fromEntries(Object.entries(schemas).map(([id, schema]) => [id, withoutIdentity(schema)]));
}

/** A schema in a document: a reference where it has a name. */
export function schemaOf(schema: z.ZodType): JsonSchema {
  const id = SCHEMAS.get(schema)?.id;
  return id === undefined ? withoutIdentity(z.toJSONSchema(schema, OPTIONS)) : { $ref: uri(id) };
}

function withoutIdentity({ $schema: _schema, $id: _id, ...schema }: JsonSchema): JsonSchema {
  return schema;
}

import { z } from "zod";

/** The schemas with a name in documents. Not zod's global registry, to which other users of zod may add. */
export const SCHEMAS = z.registry<{ id: string }>();

/** Gives a schema the name under which documents refer to it (`#/components/schemas/{id}`). */
export function named<S extends z.ZodType>(id: string, schema: S): S {
  SCHEMAS.add(schema, { id });
  return schema;
}

/** A schema with a name, of an object without other members. */
export function namedObject<S extends z.ZodRawShape>(id: string, description: string, members: S) {
  return named(id, z.strictObject(members).describe(description));
}

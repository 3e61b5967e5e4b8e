import { z } from "zod";

/** The schemas that have a name in documents. Not zod's global registry, because other users of zod may add to that. */
export const SCHEMAS = z.registry<{ id: string }>();

/** Gives a schema the name under which documents refer to it (`#/components/schemas/{id}`). */
export function named<S extends z.ZodType>(id: string, schema: S): S {
  SCHEMAS.add(schema, { id });
  return schema;
}

/** Makes a named schema of an object without other members. */
export function namedObject<S extends z.ZodRawShape>(id: string, description: string, members: S) {
  return named(id, z.strictObject(members).describe(description));
}

import { z } from "zod";

/** Schemas that documents know by name. Ours, not zod's global one: whoever else uses zod does not add to it. */
export const SCHEMAS = z.registry<{ id: string }>();

/** Gives a schema the name under which documents refer to it (`#/components/schemas/{id}`). */
export function named<S extends z.ZodType>(id: string, schema: S): S {
  SCHEMAS.add(schema, { id });
  return schema;
}

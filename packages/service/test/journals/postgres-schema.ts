import type { ClientBase } from "pg";

/** Every column, constraint and index of the journal's tables, a line for each. */
export async function schemaTextOf(client: ClientBase): Promise<string[]> {
  const { rows } = await client.query<{ text: string }>(`
    SELECT format('%s.%s %s%s%s', c.relname, attname, format_type(atttypid, atttypmod),
      CASE WHEN attnotnull THEN ' NOT NULL' ELSE '' END, CASE attidentity WHEN '' THEN '' ELSE ' IDENTITY' END) AS text
    FROM pg_attribute JOIN pg_class c ON c.oid = attrelid
    WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r' AND attnum > 0 AND NOT attisdropped
    UNION ALL SELECT format('%s %s', conrelid::regclass, pg_get_constraintdef(oid)) FROM pg_constraint
    WHERE connamespace = current_schema()::regnamespace AND contype <> 'n'
    UNION ALL SELECT indexdef FROM pg_indexes WHERE schemaname = current_schema()
    UNION ALL SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal
    ORDER BY text`);
  return rows.map(({ text }) => text);
}

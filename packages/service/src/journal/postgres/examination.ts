import { connected } from "./connections.ts";

/** What an operator should know of a database before a service uses it. Changes nothing. */
export type DatabaseExamination = {
  /** Host, port and database. */
  name: string;
  /** Whether this user may make the tables. */
  mayCreate: boolean;
  /** Whether it may change them; true while there are none. */
  mayWrite: boolean;
  isStandby: boolean;
  /** Whether the server writes commits to its disk: `fsync`. */
  syncs: boolean;
};

const EXAMINE = `
  SELECT has_schema_privilege(current_schema(), 'CREATE') AS "mayCreate",
    pg_is_in_recovery() AS "isStandby",
    current_setting('fsync') = 'on' AS "syncs",
    coalesce((SELECT bool_and(has_table_privilege(c.oid, 'SELECT, INSERT, UPDATE, DELETE'))
      FROM pg_class c WHERE c.oid IN (to_regclass('calls'), to_regclass('names'), to_regclass('meta'))), true) AS "mayWrite"`;

/** @throws Error when the database cannot be reached; it never has the password */
export function examineDatabase(url: string): Promise<DatabaseExamination> {
  return connected(url, async (client, name) => {
    const { rows } = await client.query<Omit<DatabaseExamination, "name">>(EXAMINE);
    const [found] = rows;
    if (!found) throw new Error("it gave no answer");
    return { ...found, name };
  });
}

import { Client } from "pg";
import { inPages, type JournalReader } from "../reader.ts";
import { type Ask, postgresReads, statement } from "./reads.ts";

/** @param url `postgres://…`. @throws Error when the database cannot be reached; it never names user or password */
export async function openPostgresReader(url: string): Promise<JournalReader> {
  const client = new Client({ connectionString: url, fallback_application_name: "attestd audit" });
  client.on("error", () => undefined);
  const ask: Ask = async (name, ...values) => (await client.query(statement(name, values)).catch(unreadable)).rows;
  await client.connect().catch(unreadable);
  await client.query("SET default_transaction_read_only = on").catch(unreadable);
  const { calls, identity, payees, keys, revocations } = postgresReads(ask);
  return {
    calls: () => inPages((after, limit) => calls("page", after, limit)),
    identity,
    payees,
    keys,
    revocations,
    [Symbol.asyncDispose]: () => client.end(),
  };
}

/** @throws Error without the driver's message, which may name the user */
function unreadable(error: unknown): never {
  const { code } = error as { code?: string };
  throw new Error(`the journal in PostgreSQL cannot be read (${code ?? "no answer"})`);
}

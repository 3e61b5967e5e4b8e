import { DatabaseSync } from "node:sqlite";
import { parentPort, workerData } from "node:worker_threads";
import { type SqliteCommands, sqliteCommands } from "./commands.ts";
import type { Read, ReadCommand, ReadReply } from "./reads.ts";

/*
 * The worker that reads what may be large, beside the one that writes the file: WAL lets it, and no commit waits for it. One
 * statement after the other, each in a transaction of its own, so that it keeps no old pages of the WAL in use.
 */

if (parentPort) {
  const port = parentPort;
  const db = new DatabaseSync((workerData as { path: string }).path, { readOnly: true });
  const run: Record<ReadCommand, (...args: never[]) => unknown> = sqliteCommands(db) satisfies Pick<
    SqliteCommands,
    ReadCommand
  >;
  port.on("message", ({ id, command, args }: Read) => {
    try {
      port.postMessage({ id, value: run[command](...(args as never[])) } satisfies ReadReply);
    } catch (error) {
      port.postMessage({ id, error: (error as Error).message } satisfies ReadReply);
    }
  });
}

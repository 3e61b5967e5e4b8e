import type { ClientBase } from "pg";
import { journalBehind } from "../../calls/copied.ts";
import { SQL } from "./statements.ts";

/** A row of this replica as a commit left it, which the database has confirmed. */
type Confirmed = { key: string; version: number };

/**
 * Finds out in each new session whether the database still has what it confirmed. A standby that takes over has a prefix of the
 * commits of its primary, and so has a recovery to a point in time: where the last commit of this replica stands, all that
 * were confirmed to it before stand too. So a commit costs nothing more, and a new session one question.
 *
 * A commit stands where its row has come as far. After another server has taken over, the row must also be this replica's: its
 * call may have been lost, and have come as far again by another one.
 *
 * What others have committed shows only as far as they live: each asks for its own. What one has committed that died together
 * with the primary is known to nobody. So a database that another server has taken over is marked as a copy in any case: what
 * nobody carries any more is searched for on the ledger first.
 */
export function createContinuity(replica: string) {
  /** The last commits by each connection that commits: their answers may overtake one another. */
  const last: Partial<Record<"written" | "leased", Confirmed>> = {};
  let server: string | undefined;
  let since: number | undefined;

  return {
    /** Since when the journal may lack commits, as far as is known here: Unix ms. */
    since: () => since,

    /** The database has confirmed a commit. */
    confirm(how: "written" | "leased", { key, version }: Confirmed): void {
      last[how] = { key, version };
    },

    /** The leases of calls are another replica's now. */
    passOn(keys: readonly string[]): void {
      for (const how of ["written", "leased"] as const) if (keys.includes(last[how]?.key ?? "")) delete last[how];
    },

    /** @throws journal_behind; Error when the database is a standby, whose rows are of the past */
    async check(client: ClientBase): Promise<void> {
      const confirmed = Object.values(last);
      const asked = [replica, confirmed.map(({ key }) => key), confirmed.map(({ version }) => version), server];
      const { rows } = await client.query<{ server: string | null; missing: string | null }>(SQL.status, asked);
      const [found] = rows;
      if (!found?.server) throw new Error("the database is a standby, which takes no writes");
      if (found.missing !== null) {
        since = Date.now();
        throw journalBehind(`the last of the call of ${found.missing}`);
      }
      if (found.server === server) return;
      const { rowCount } = await client.query(SQL.noteServer, [JSON.stringify(found.server)]);
      if (rowCount || server !== undefined) since = Date.now();
      server = found.server;
    },

    /** The journal bears the mark of a copy. @param isNew whether it was just set: then what was confirmed before counts no more */
    copied(isNew: boolean): void {
      since = Date.now();
      if (!isNew) return;
      delete last.written;
      delete last.leased;
    },
  };
}

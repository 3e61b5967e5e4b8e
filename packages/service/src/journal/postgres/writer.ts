import { DatabaseError, type Pool, type PoolClient, type QueryConfig, type QueryResult } from "pg";
import { observe } from "../../observe/metrics/meter.ts";

/** A result, with the number of the session that the statement ran in. */
type Answer = QueryResult & { session: number };

type Waiting = {
  query: QueryConfig;
  /** The only session that it may run in, if it matters. */
  session: number | undefined;
  resolve(answer: Answer): void;
  reject(error: unknown): void;
};
type Item = Waiting & { order: string };

const MAX_STATEMENTS_PER_COMMIT = 256;

/**
 * foreign_key_violation, unique_violation, serialization_failure, deadlock_detected: another replica was first. Its commit
 * is visible to the next try.
 */
const LOST_RACES: ReadonlySet<string | undefined> = new Set(["23503", "23505", "40001", "40P01"]);
/** The error of a statement that was to run in a session which has ended. */
export class SessionEnded extends Error {}

/** How often a statement is run again after a lost race: evidence can come and go any number of times. */
const MAX_LOST_RACES = 5;

/**
 * Group commit: statements that arrive while a transaction runs become the next one, so that they share an fsync. A
 * transaction is sent whole, from BEGIN to COMMIT, without waiting for an answer in between.
 *
 * A statement that fails does not fail the others: PostgreSQL rolls all of them back, and they run again in halves, down
 * to the one that fails. Unlike savepoints, this costs nothing while nothing fails.
 *
 * Statements that commit nothing may be run in the same session, outside its transactions. Sessions are counted: a new one
 * begins when the connection of the one before has broken.
 *
 * @param pool of one pipelining connection that only this writer uses
 * @param onFailure called with every error of the database
 */
export function createWriter(pool: Pool, onFailure: (error: DatabaseError) => void) {
  const waiting: Item[] = [];
  const asking: Waiting[] = [];
  let last: PoolClient | undefined;
  let session = 0;
  let running: Promise<void> | undefined;

  async function run(): Promise<void> {
    // Lets statements of the same turn join the first transaction.
    await Promise.resolve();
    while (waiting.length + asking.length > 0) {
      const questions = asking.splice(0, MAX_STATEMENTS_PER_COMMIT);
      const batch = waiting.splice(0, MAX_STATEMENTS_PER_COMMIT).sort((a, b) => compare(a.order, b.order));
      let client: PoolClient | undefined;
      try {
        client = await pool.connect();
        if (client !== last) session += 1;
        last = client;
        const commits = batch.filter(isOfSession);
        await Promise.all([
          ask(client, questions.filter(isOfSession), session),
          commits.length > 0 && commit(client, commits, session, onFailure),
        ]);
        client.release();
      } catch (error) {
        client?.release(true);
        last = undefined;
        for (const { reject } of [...questions, ...batch]) reject(error);
      }
    }
    // In the same turn as the check of the queue: a statement that came in between would wait for ever.
    running = undefined;
  }

  /** Rejects the statement unless it may run in the session of now. */
  function isOfSession({ session: own, reject }: Waiting): boolean {
    if (own === undefined || own === session) return true;
    reject(new SessionEnded());
    return false;
  }

  return {
    /**
     * Runs a statement. It MUST leave everything as it was when it is run a second time.
     *
     * @param order the row that it locks first. Every replica locks rows in this order, which avoids deadlocks; one over
     *   an alias is still possible: PostgreSQL ends it, and the loser runs again.
     * @param session runs it only in this session
     * @returns its result, once it is committed
     * @throws SessionEnded; DatabaseError when the statement failed; another Error when it is unknown whether it was committed
     */
    write(order: string, query: QueryConfig, session?: number): Promise<QueryResult> {
      const { promise, resolve, reject } = Promise.withResolvers<QueryResult>();
      waiting.push({ order, query, session, resolve, reject });
      running ??= run();
      return promise;
    },

    /**
     * Runs a statement in the session, after those that were asked before and outside of a transaction.
     *
     * @param own runs it only in this session
     * @throws SessionEnded; DatabaseError; another Error when the connection broke
     */
    ask(query: QueryConfig, own?: number): Promise<Answer> {
      const { promise, resolve, reject } = Promise.withResolvers<Answer>();
      asking.push({ query, session: own, resolve, reject });
      running ??= run();
      return promise;
    },

    /** Resolves once every statement is answered. */
    idle: async () => running,
  };
}

/** @throws Error when the connection broke */
async function ask(client: PoolClient, questions: readonly Waiting[], session: number): Promise<void> {
  const settled = await Promise.allSettled(questions.map(({ query }) => client.query(query)));
  for (const [i, { resolve, reject }] of questions.entries()) {
    const result = settled[i] as PromiseSettledResult<QueryResult>;
    if (result.status === "fulfilled") resolve({ ...result.value, session });
    else if (result.reason instanceof DatabaseError) reject(result.reason);
    else throw result.reason;
  }
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Answers every item of the batch. @throws Error when the connection broke, with what was not answered undecided */
async function commit(
  client: PoolClient,
  batch: readonly Item[],
  session: number,
  onFailure: (error: DatabaseError) => void,
  races = MAX_LOST_RACES,
): Promise<void> {
  // A COMMIT after a statement that failed is a ROLLBACK.
  const queries = ["BEGIN", ...batch.map(({ query }) => query), "COMMIT"];
  const begun = performance.now();
  const settled = await Promise.allSettled(queries.map((query) => client.query(query)));
  const failures = settled.flatMap((result) => (result.status === "rejected" ? [result.reason] : []));
  if (failures.length === 0) {
    observe("transactionSeconds", {}, (performance.now() - begun) / 1000);
    for (const [i, { resolve }] of batch.entries())
      resolve({ ...(settled[i + 1] as PromiseFulfilledResult<QueryResult>).value, session });
    return;
  }
  const broken = failures.find((reason) => !(reason instanceof DatabaseError));
  if (broken) throw broken;
  for (const failure of failures as DatabaseError[]) onFailure(failure);
  const [first, ...more] = batch;
  if (first && more.length === 0) {
    const [error] = failures as DatabaseError[];
    if (races > 0 && LOST_RACES.has(error?.code)) await commit(client, batch, session, onFailure, races - 1);
    else first.reject(error);
    return;
  }
  const half = Math.ceil(batch.length / 2);
  await commit(client, batch.slice(0, half), session, onFailure);
  await commit(client, batch.slice(half), session, onFailure);
}

import { DatabaseError, type Pool, type PoolClient, type QueryConfig, type QueryResult } from "pg";

type Item = {
  order: string;
  query: QueryConfig;
  resolve(result: QueryResult): void;
  reject(error: unknown): void;
};

const MAX_STATEMENTS_PER_COMMIT = 256;

/**
 * foreign_key_violation, unique_violation, serialization_failure, deadlock_detected: another replica was first, which now
 * can be seen.
 */
const LOST_RACES: ReadonlySet<string | undefined> = new Set(["23503", "23505", "40001", "40P01"]);
/** How often a statement may lose one: evidence can come and go any number of times. */
const MAX_LOST_RACES = 5;

/**
 * Group commit: what is handed in while a transaction runs becomes the next one, so that an fsync is shared by all that
 * came meanwhile. A transaction goes out whole, BEGIN to COMMIT, without an answer being waited for in between.
 *
 * A statement that fails takes no other with it: PostgreSQL then rolls all of them back, and they are run again in
 * halves, down to the one that fails. That costs nothing while nothing fails, unlike a savepoint each.
 */
export class Writer {
  readonly #pool: Pool;
  readonly #onFailure: (error: DatabaseError) => void;
  #waiting: Item[] = [];
  #running: Promise<void> | undefined;

  /**
   * @param pool of one pipelining connection that only this writer uses
   * @param onFailure told of whatever the database refuses
   */
  constructor(pool: Pool, onFailure: (error: DatabaseError) => void = () => undefined) {
    this.#pool = pool;
    this.#onFailure = onFailure;
  }

  /**
   * Runs a statement. It MUST leave everything as it was when it is run a second time.
   *
   * @param order the row that it locks first. Rows are locked in this order in every replica, so that none waits for
   *   another in a circle; where that happens all the same, over an alias, PostgreSQL ends it and the loser runs again.
   * @returns its result, once it is committed
   * @throws DatabaseError when the statement failed; another Error when it is unknown whether it was committed
   */
  write(order: string, query: QueryConfig): Promise<QueryResult> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ order, query, resolve, reject });
      this.#running ??= this.#run();
    });
  }

  /** Resolves once everything handed in is answered. */
  async idle(): Promise<void> {
    await this.#running;
  }

  async #run(): Promise<void> {
    // By then, what was handed in together with the first is there too.
    await Promise.resolve();
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, MAX_STATEMENTS_PER_COMMIT).sort((a, b) => compare(a.order, b.order));
      let client: PoolClient | undefined;
      try {
        client = await this.#pool.connect();
        await commit(client, batch, this.#onFailure);
        client.release();
      } catch (error) {
        client?.release(true);
        for (const { reject } of batch) reject(error);
      }
    }
    // In the same turn as the look at the queue: what came between would wait for ever.
    this.#running = undefined;
  }
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Answers every item of the batch. @throws Error when the connection broke, with what was not answered undecided */
async function commit(
  client: PoolClient,
  batch: readonly Item[],
  onFailure: (error: DatabaseError) => void,
  races = MAX_LOST_RACES,
): Promise<void> {
  // A COMMIT after a statement that failed is a ROLLBACK.
  const queries = ["BEGIN", ...batch.map(({ query }) => query), "COMMIT"];
  const settled = await Promise.allSettled(queries.map((query) => client.query(query)));
  const failures = settled.flatMap((result) => (result.status === "rejected" ? [result.reason] : []));
  if (failures.length === 0) {
    for (const [i, { resolve }] of batch.entries())
      resolve((settled[i + 1] as PromiseFulfilledResult<QueryResult>).value);
    return;
  }
  const broken = failures.find((reason) => !(reason instanceof DatabaseError));
  if (broken) throw broken;
  for (const failure of failures as DatabaseError[]) onFailure(failure);
  const [first, ...more] = batch;
  if (first && more.length === 0) {
    const [error] = failures as DatabaseError[];
    if (races > 0 && LOST_RACES.has(error?.code)) await commit(client, batch, onFailure, races - 1);
    else first.reject(error);
    return;
  }
  const half = Math.ceil(batch.length / 2);
  await commit(client, batch.slice(0, half), onFailure);
  await commit(client, batch.slice(half), onFailure);
}

import { type Expectation, expectationLost, type Journal } from "../../calls/journal.ts";
import { ServiceError } from "../../lib/errors.ts";
import { statement } from "./reader.ts";
import type { createWriter } from "./writer.ts";

/**
 * Different names that stand at once, at most. Each is a lock, for which the server has room at start: with its default of
 * 64 a connection, the ten connections of a replica bring more than these.
 */
const MAX_NAMES = 500;

/**
 * The expectations of a replica, as shared advisory locks of the session that commits its calls. They end with the session,
 * and no other session inserts a call that depends on one. So no connection is held while a payment is checked. When a
 * replica gets the exclusive lock, every call of the others is committed or never will be.
 */
export function createExpectations(writer: ReturnType<typeof createWriter>) {
  const sessions = new WeakMap<Expectation, number>();
  const standing = new Map<string, number>();

  const count = (name: string, by: 1 | -1) => {
    const now = (standing.get(name) ?? 0) + by;
    if (now === 0) standing.delete(name);
    else standing.set(name, now);
  };
  const lock = async (name: string) => (await writer.ask(statement("expect", [name]))).session;
  // A session that has ended has given the lock up.
  const unlock = (name: string, session: number) =>
    writer.ask(statement("unexpect", [name]), session).catch(() => undefined);

  const journal: Pick<Journal, "expect" | "isExpectedElsewhere"> = {
    async expect(names) {
      if (standing.size + names.length > MAX_NAMES)
        throw new ServiceError("journal_busy", `${standing.size} payments are being checked`);
      for (const name of names) count(name, 1);
      const locked = await Promise.allSettled(names.map(lock));
      const held = new Set(locked.flatMap((result) => (result.status === "fulfilled" ? [result.value] : [])));
      const end = () => {
        for (const [i, name] of names.entries()) {
          count(name, -1);
          const result = locked[i];
          if (result?.status === "fulfilled") void unlock(name, result.value);
        }
      };
      const failure = locked.find((result) => result.status === "rejected");
      const [session, ...others] = held;
      if (failure || session === undefined || others.length > 0) {
        end();
        throw failure?.reason ?? expectationLost();
      }
      let stands = true;
      const expectation = {
        end() {
          if (stands) end();
          stands = false;
        },
      };
      sessions.set(expectation, session);
      return expectation;
    },

    async isExpectedElsewhere(name) {
      const { rows } = await writer.ask(statement("expected", [name]));
      return rows[0]?.expected === true;
    },
  };

  return { journal, sessionOf: (expectation: Expectation) => sessions.get(expectation) };
}

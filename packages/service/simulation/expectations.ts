import type { Expectation } from "../src/calls/journal.ts";

/** A connection of a replica to the database. */
type Session = { isOpen(): boolean };
type Standing = { names: readonly string[]; session: Session /** The step in which it began. */; since: number };

/** The notices of replicas to each other that a call may begin. */
export class Expectations {
  readonly #standing = new Map<Expectation, Standing>();

  add(standing: Standing): Expectation {
    const expectation = { end: () => void this.#standing.delete(expectation) };
    this.#standing.set(expectation, standing);
    return expectation;
  }

  /** The step since which it stands; undefined when it does not. */
  sinceOf(expectation: Expectation): number | undefined {
    const found = this.#standing.get(expectation);
    return found?.session.isOpen() ? found.since : undefined;
  }

  /** Whether one of another session stands under a name. */
  isStanding(name: string, session: Session): boolean {
    const all = [...this.#standing.values()];
    return all.some((one) => one.session !== session && one.session.isOpen() && one.names.includes(name));
  }
}

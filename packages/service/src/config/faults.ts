import { ServiceError } from "../lib/errors.ts";

/** @param faults one sentence each, with the name of the setting and the remedy */
export function configInvalid(...faults: [string, ...string[]]): ServiceError<"config_invalid"> {
  return new ServiceError("config_invalid", faults.join("\n"), { details: { faults } });
}

/** The faults of settings, in the order in which they are found. No sentence quotes a value: it may be a secret. */
export class SettingFaults {
  readonly #sentences = new Set<string>();

  /** @param sentence names the setting and the remedy */
  add(sentence: string): void {
    this.#sentences.add(sentence);
  }

  get sentences(): string[] {
    return [...this.#sentences];
  }

  /** @throws config_invalid with all faults, when there is one */
  throwAll(): void {
    const [first, ...others] = this.sentences;
    if (first !== undefined) throw configInvalid(first, ...others);
  }
}

/** Reads a value, and reports why it cannot be read. @param read throws RangeError, a predicate */
export function orReport<T>(read: () => T, report: (predicate: string) => void): T | undefined {
  try {
    return read();
  } catch (error) {
    report((error as RangeError).message);
    return undefined;
  }
}

/** Edits after which a name still counts as a misspelling. Shorter names have too many neighbours that mean something else. */
const MAX_EDITS = 2;
const MIN_LENGTH = { 1: 5, 2: 8 };

/**
 * The known name that a wrong one is a misspelling of: at most two letters differ, or its parts stand in another order.
 *
 * @returns undefined when there is none
 */
export function nearestName(wrong: string, known: Iterable<string>): string | undefined {
  let nearest: { name: string; edits: number } | undefined;
  const parts = partsOf(wrong);
  for (const name of known) {
    // Most names are as far from one another as their lengths are.
    if (Math.abs(name.length - wrong.length) > MAX_EDITS) continue;
    const edits = partsOf(name) === parts ? 1 : editsBetween(wrong, name);
    const isNear = edits === 0 || (edits === 1 ? name.length >= MIN_LENGTH[1] : name.length >= MIN_LENGTH[2]);
    if (isNear && edits <= MAX_EDITS && edits < (nearest?.edits ?? MAX_EDITS + 1)) nearest = { name, edits };
  }
  return nearest?.name;
}

function partsOf(name: string): string {
  return name.toUpperCase().split("_").sort().join("_");
}

/**
 * Letters to insert, delete, replace or exchange with the next one (optimal string alignment); case does not count. More than
 * `MAX_EDITS` are not counted to the end: so many letters apart at most are compared.
 */
function editsBetween(a: string, b: string): number {
  const [from, to] = [a.toUpperCase(), b.toUpperCase()];
  const beyond = MAX_EDITS + 1;
  let [before, last]: [number[], number[]] = [[], Array.from({ length: to.length + 1 }, (_, j) => j)];
  for (let i = 1; i <= from.length; i++) {
    const row = Array.from(last, () => beyond);
    row[0] = i;
    for (let j = Math.max(1, i - MAX_EDITS); j <= Math.min(to.length, i + MAX_EDITS); j++) {
      const replaced = (last[j - 1] ?? beyond) + (from[i - 1] === to[j - 1] ? 0 : 1);
      const isExchanged = from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1];
      const exchanged = isExchanged ? (before[j - 2] ?? beyond) + 1 : beyond;
      row[j] = Math.min((last[j] ?? beyond) + 1, (row[j - 1] ?? beyond) + 1, replaced, exchanged);
    }
    if (Math.min(...row) > MAX_EDITS && Math.min(...last) > MAX_EDITS) return beyond;
    [before, last] = [last, row];
  }
  return last[to.length] ?? beyond;
}

/** Leaves out what is absent, so that a condition can stand in a list. */
export function present<T>(items: readonly (T | false | undefined)[]): T[] {
  return items.filter((item) => item !== false && item !== undefined) as T[];
}

/** Removes absent items, so that a list can contain conditions. */
export function present<T>(items: readonly (T | false | undefined)[]): T[] {
  return items.filter((item) => item !== false && item !== undefined) as T[];
}

/** What it computes; undefined where the bytes are not what they should be. */
export function attempt(compute) {
  try {
    return compute();
  } catch {
    return undefined;
  }
}

/**
 * The costly part of reading a chain's blocks: functions of bytes and JSON alone, so that they can run in any thread.
 * Blocks hold thousands of transactions, whose hashing must not hold up the event loop. All throw ProofError
 * `malformed` for malformed data, and nothing else.
 */
export type WorkFunctions = Readonly<Record<string, (...args: never[]) => unknown>>;

/** The same functions, wherever they run. */
export type BlockWork<W extends WorkFunctions> = {
  readonly [K in keyof W]: (...args: Parameters<W[K]>) => Promise<Awaited<ReturnType<W[K]>>>;
};

/** Runs a function by its name. */
export type RunWork = (name: string, args: readonly unknown[]) => Promise<unknown>;

/** @param run runs each function; on the calling thread unless given */
export function blockWork<W extends WorkFunctions>(
  functions: W,
  run: RunWork = async (name, args) => runWork(functions, name, args),
): BlockWork<W> {
  const entries = Object.keys(functions).map((name) => [name, (...args: unknown[]) => run(name, args)]);
  return Object.fromEntries(entries) as BlockWork<W>;
}

/** @returns what the function of this name gives, or a promise of it */
export function runWork(functions: WorkFunctions, name: string, args: readonly unknown[]): unknown {
  return (functions[name] as (...args: readonly unknown[]) => unknown)(...args);
}

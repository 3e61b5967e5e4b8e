import { type ChainName, isSourceError, isUndecided, type SourceChain } from "../chains/chain.ts";
import type { Clock } from "../clock.ts";
import { type RecordedAttestation, readRecorded } from "../ledger/recorded.ts";
import type { Bulkhead } from "./bulkhead.ts";
import { type ByteCache, createByteCache } from "./byte-cache.ts";

/**
 * Looks up on the chains what bundles name. Each method returns undefined when it certainly does not exist; it throws
 * ProviderError or SourceError (`source_unreadable`) when that cannot be decided, Problem `over_capacity` when too many
 * look-ups are waiting.
 */
export interface ChainRecords {
  /** Whether a chain is configured here. */
  knows(chain: ChainName): boolean;
  transaction(chain: ChainName, txnId: string): Promise<{ bytes: Uint8Array; height: number } | undefined>;
  /** @returns the header's exact bytes */
  header(chain: ChainName, height: number): Promise<Uint8Array | undefined>;
  attestation(txnId: string): Promise<RecordedAttestation | undefined>;
}

export type ChainRecordsOptions = {
  chains: ReadonlyMap<ChainName, SourceChain>;
  /** The ledger as a source. */
  ledger: Pick<SourceChain, "transaction">;
  /** Bounds all look-ups. */
  bulkhead: Bulkhead;
  clock: Pick<Clock, "now" | "timeout">;
  /** Time-out of one look-up once it runs, in ms. */
  deadlineMs: number;
};

/** The result of a look-up; `isFixed` when it can never change. */
type Found = { value: object; bytes: number; isFixed: boolean };

const CACHE_BYTES = 16 * 1024 * 1024;
const CACHE_LIFE_MS = 5 * 60_000;

/**
 * Looks up through clients of its own, so that no failure here opens the breakers of paid calls. Results that can never
 * change are cached, and simultaneous look-ups of the same are one.
 */
export function createChainRecords(options: ChainRecordsOptions): ChainRecords {
  const { chains, ledger, bulkhead, clock, deadlineMs } = options;
  const kept: ByteCache<object> = createByteCache({ maxBytes: CACHE_BYTES, lifeMs: CACHE_LIFE_MS, now: clock.now });
  const underWay = new Map<string, Promise<unknown>>();

  async function find<T>(
    key: string,
    ask: (signal: AbortSignal) => Promise<Found | undefined>,
  ): Promise<T | undefined> {
    const known = kept.get(key) ?? underWay.get(key);
    if (known !== undefined) return known as T;
    const asked = bulkhead
      .run(() => ask(clock.timeout(deadlineMs)).catch(unlessAbsent))
      .then((found) => {
        if (found?.isFixed) kept.set(key, found.value, found.bytes);
        return found?.value;
      })
      .finally(() => underWay.delete(key));
    underWay.set(key, asked);
    return (await asked) as T | undefined;
  }

  function chainOf(name: ChainName): SourceChain {
    const chain = chains.get(name);
    if (!chain) throw new TypeError(`${name} is not configured`);
    return chain;
  }

  return {
    knows: (chain) => chains.has(chain),
    transaction: (name, txnId) =>
      find(`transaction ${name} ${txnId}`, async (signal) => {
        const { bytes, height, level } = await chainOf(name).transaction(txnId, signal);
        return { value: { bytes: new Uint8Array(bytes), height }, bytes: bytes.length, isFixed: level === "finalized" };
      }),
    header: (name, height) =>
      find(`header ${name} ${height}`, async (signal) => {
        const { header, level } = await chainOf(name).block(height, signal);
        return { value: new Uint8Array(header), bytes: header.length, isFixed: level === "finalized" };
      }),
    attestation: (txnId) =>
      find(`attestation ${txnId}`, async (signal) => {
        const recorded = await readRecorded(ledger, txnId, signal);
        if (!recorded) return undefined;
        const note = new Uint8Array(recorded.note);
        return { value: { ...recorded, note }, bytes: note.length + 500, isFixed: true };
      }),
  };
}

/** Maps "certainly absent" to undefined. @throws every other error, also of what exists and cannot be read */
function unlessAbsent(error: unknown): undefined {
  if (!isSourceError(error) || isUndecided(error)) throw error;
  return undefined;
}

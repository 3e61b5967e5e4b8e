import type { ServiceStatus } from "../src/service-status.ts";
import type { StakeTrust } from "../src/stake.ts";
import type { KeyList } from "../src/trust-basis.ts";
import type { Child } from "./dom.ts";
import type { GivenFiles } from "./given-files.ts";
import type { Judging } from "./judging.ts";
import type { Storage } from "./storage.ts";

/** What all views share. */
export type Site = {
  judging: Judging;
  /** Undefined when the browser does not let a page store anything. */
  storage: Storage | undefined;
  /** The key lists: `current` is the served one, or one that was dropped, see `givenBeside`. */
  keys: { served: KeyList | undefined; current: KeyList | undefined };
  /** The evidence that the reader gave, by the SHA-256 of its bundle in lower-case hex, and what of the stake to trust. */
  evidence: Map<string, Uint8Array>;
  stake: StakeTrust[];
  /** What the service says of itself; undefined when it cannot be asked, and was not before. */
  status: Promise<ServiceStatus | undefined>;
  /** Resolves when the served key list has been fetched, or could not be. */
  keysReady: Promise<void>;
  /**
   * Shows a view. Its heading is the document's title, too.
   * @param focus whether the focus moves to the heading; a focus inside the replaced view always does
   */
  show(view: readonly Child[], focus: boolean): void;
  /** Announces progress to screen readers. */
  announce(progress: string): void;
  /** Checks files, or takes key lists, in the verify view. */
  take(given: GivenFiles): void;
};

const FETCH_TIMEOUT_MS = 15_000;

/* What fetches from the service that serves this page, and returns undefined when that fails. */

export const fetchBlob = (path: string, options?: RequestInit) => fetched(path, options, (answer) => answer.blob());

export const fetchJson = <T>(path: string, options?: RequestInit) =>
  fetched<T>(path, options, (answer) => answer.json());

async function fetched<T>(path: string, options: RequestInit = {}, read: (answer: Response) => Promise<T>) {
  try {
    const answer = await fetch(path, { signal: AbortSignal.timeout(FETCH_TIMEOUT_MS), ...options });
    return answer.ok ? await read(answer) : undefined;
  } catch {
    return undefined;
  }
}

/** The name of a bundle's file when it is saved. @param id of the bundle */
export function bundleFileName(id: string, round: number): string {
  return `attestation-${id.slice(0, 8)}-${round}.json`;
}

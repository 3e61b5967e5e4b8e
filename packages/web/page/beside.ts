import { preferredList } from "../src/trust-basis.ts";
import { EVIDENCE } from "../src/words.ts";
import { basisOf, type Checked } from "./check-file.ts";
import type { Site } from "./site.ts";

/** What says nothing by itself, and counts for the other files. */
export type Beside = Extract<Checked, { kind: "keys" | "evidence" | "stake" }>;

/** The most bytes of evidence, and the most checkpoints, that are kept; the last ones are. */
const MAX_EVIDENCE_KEPT = 64 * 2 ** 20;
const MAX_STAKE = 64;

const FETCH_TIMEOUT_MS = 60_000;

/** Fetches the evidence of a bundle from the service that serves this page. @returns a sentence on why there is none */
export async function evidenceOf(bundleId: string): Promise<Blob | string> {
  try {
    const answer = await fetch(`/bundles/${bundleId}/evidence`, { signal: AbortSignal.timeout(FETCH_TIMEOUT_MS) });
    if (answer.status === 200) return await answer.blob();
    return answer.status === 202 ? EVIDENCE.notYet : EVIDENCE.none;
  } catch {
    return EVIDENCE.unreachable;
  }
}

/** Lets it count for every file from now on, evidence and checkpoints in place of earlier ones of the same bundle. */
export function useBeside(site: Site, checked: Beside, file: Blob): void {
  if (checked.kind === "keys") {
    const current = preferredList({ history: checked.history, basis: basisOf(file) }, site.keys.served);
    site.keys.current = current;
    const isOwn = current === site.keys.served;
    site.announce(isOwn ? "This site's own key list continues that one, and is used." : "Key list added.");
    return;
  }
  if (checked.kind === "stake") {
    const name = basisOf(file).name || "a file";
    site.stake.push({ name, ...checked.trust });
    site.stake.splice(0, site.stake.length - MAX_STAKE);
    site.announce("Checkpoint added.");
    return;
  }
  site.evidence.delete(checked.of);
  site.evidence.set(checked.of, checked.bytes);
  let bytes = 0;
  for (const [of, one] of [...site.evidence].reverse()) {
    bytes += one.length;
    if (bytes > MAX_EVIDENCE_KEPT) site.evidence.delete(of);
  }
  site.announce("Evidence added.");
}

import { bundleId, isProofError, parseBundle, type VerifyReport, verify } from "@attestd/proof";
import type { EvidenceOptions } from "@attestd/proof/evidence";
import { readBody } from "./body.ts";
import { type CallOptions, serviceUrl } from "./call.ts";
import { systemClock } from "./clock.ts";
import { AttestError } from "./errors.ts";
import { readProblem } from "./request.ts";

/** `service`: the service that delivered the bundle. */
export type FetchEvidenceOptions = Pick<CallOptions, "service" | "trust" | "signal" | "fetch" | "clock"> & {
  /** The bundle's JSON in UTF-8; for a batch, an item's. */
  bundle: Uint8Array;
  /** The checkpoints, tables or roots that you trust; without any, the report's `stateProof` is `not_checked`. */
  stake?: Pick<EvidenceOptions, "checkpoints" | "tables" | "roots">;
  /** How long to ask for complete evidence, in ms; on MainNet it takes some 18 minutes. By default it asks once. */
  maxWaitMs?: number;
  /** Pause between two requests, in ms; by default the pause that the service asks for. */
  intervalMs?: number;
};

export type FetchedEvidence = {
  /** The evidence as the service sent it: JSON in UTF-8, to be kept next to the bundle. */
  evidenceBytes: Uint8Array;
  /** The client's own offline verification of the bundle with this evidence. */
  report: VerifyReport;
};

const TIMEOUT_MS = 60_000;
const PAUSE_MS = 15_000;

/**
 * Fetches the evidence of a delivered bundle and checks it. Evidence that contradicts the bundle is not returned.
 * @throws AttestError `not_yet` while the evidence is not complete, `refused` for a bundle that the service has not
 *   delivered, `unreachable`, `unexpected_answer`, `invalid_option` or `interrupted`
 */
export async function fetchEvidence(options: FetchEvidenceOptions): Promise<FetchedEvidence> {
  const { bundle, trust, stake = {}, maxWaitMs = 0, intervalMs, clock = systemClock } = options;
  const { signal = new AbortController().signal, fetch = globalThis.fetch } = options;
  const url = `${serviceUrl(options.service)}/bundles/${idOf(bundle)}/evidence`;
  const { MAX_EVIDENCE_BYTES, withEvidence } = await import("@attestd/proof/evidence");
  const deadline = clock.now() + maxWaitMs;
  for (;;) {
    const asked = await ask(url, MAX_EVIDENCE_BYTES, fetch, signal);
    if ("bytes" in asked) {
      const report = judge(() => withEvidence(verify(bundle, trust && { trust }), bundle, asked.bytes, stake));
      return { evidenceBytes: asked.bytes, report };
    }
    const pause = intervalMs ?? asked.retryAfterMs ?? PAUSE_MS;
    if (clock.now() + pause > deadline) throw asked.error;
    await clock.wait(pause, signal).catch((cause: unknown) => {
      throw new AttestError("interrupted", "Interrupted.", { cause });
    });
  }
}

function idOf(bundle: Uint8Array): string {
  try {
    return bundleId(parseBundle(bundle));
  } catch (cause) {
    if (!isProofError(cause, "json") && !isProofError(cause, "format")) throw cause;
    throw new AttestError("invalid_option", `bundle: ${cause.message}`, { cause });
  }
}

/** @returns why to ask again, if that may help. @throws AttestError if it cannot help */
async function ask(url: string, largest: number, fetch: typeof globalThis.fetch, signal: AbortSignal) {
  let response: Response;
  let bytes: Uint8Array;
  try {
    const ends = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]);
    response = await fetch(url, { redirect: "manual", signal: ends });
    bytes = await readBody(response, largest);
  } catch (cause) {
    if (signal.aborted) throw new AttestError("interrupted", "Interrupted.", { cause });
    if (cause instanceof AttestError) throw cause;
    const error = new AttestError("unreachable", `No answer from ${new URL(url).origin}.`, { cause });
    return { retryAfterMs: undefined, error };
  }
  if (response.status === 200) return { bytes };
  const problem = readProblem(response, bytes);
  const retryAfterMs = problem.retryAfterMs;
  if (response.status === 202)
    return { retryAfterMs, error: new AttestError("not_yet", "No state proof attests the round of the record yet.") };
  const detail = problem.detail ?? `${new URL(url).origin} answered ${response.status}.`;
  if (response.status < 500 && response.status !== 429) throw new AttestError("refused", detail, { problem });
  return { retryAfterMs, error: new AttestError("unreachable", detail, { problem }) };
}

/** @throws AttestError `unexpected_answer` for wrong evidence or none */
function judge(compute: () => VerifyReport): VerifyReport {
  let report: VerifyReport;
  try {
    report = compute();
  } catch (cause) {
    if (!isProofError(cause, "json")) throw cause;
    throw new AttestError("unexpected_answer", "The answer is not evidence.", { cause });
  }
  const [fault] = report.evidence?.failures ?? [];
  if (fault === undefined) return report;
  const why = [fault.pointer, fault.message].filter(Boolean).join(" ");
  throw new AttestError("unexpected_answer", `The service's evidence contradicts the bundle: ${why}.`);
}

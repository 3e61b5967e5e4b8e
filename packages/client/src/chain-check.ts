import {
  type BundleType,
  type ChainFindings,
  MAX_BUNDLE_BYTES,
  ONLINE_CHECKS,
  type VerifyReport,
  withChain,
} from "@attestd/proof";
import { withoutTrailing } from "@attestd/proof/text";
import { parseObject, readBody } from "./body.ts";
import { AttestError } from "./errors.ts";

export { AttestError };

const ROUTES: Record<BundleType, string> = {
  "transaction-attestation": "verify",
  "block-attestation": "verify-block",
  "tx-inclusion": "verify-tx-inclusion",
  "batch-item": "verify",
};
/** The format of `Date.prototype.toISOString`. */
const RFC_3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{3})?Z$/;
const TIMEOUT_MS = 60_000;

/**
 * Asks a service to compare a bundle with its source chain and the ledger, and adds these two online checks to a
 * report.
 * @param report of the same bundle, from `verify`
 * @throws AttestError `unreachable` when the service gave no result; the offline report remains valid
 */
export async function withChainOf(service: string, bundle: Uint8Array, report: VerifyReport): Promise<VerifyReport> {
  const { status, body } = await post(`${withoutTrailing(service, "/")}/${ROUTES[report.type]}?chain=1`, bundle);
  const missing = ONLINE_CHECKS.find((check) => status === 404 && body.check === check);
  if (missing) return withChain(report, { [missing]: [{ message: "not found" }] });
  const found = findings(status === 200 ? body : body.report);
  if (found.chainSource || found.chainAttest) return withChain(report, found);
  const message = typeof body.detail === "string" ? body.detail : `${service} answered ${status}.`;
  throw new AttestError("unreachable", message);
}

/** Returns the online checks from a service's report, if the value is one. */
function findings(value: unknown): ChainFindings {
  const { checks, failures, recordedAt } = (value ?? {}) as Partial<VerifyReport>;
  const found: ChainFindings = {};
  if (typeof recordedAt === "string" && RFC_3339.test(recordedAt)) found.recordedAt = recordedAt;
  for (const check of ONLINE_CHECKS) {
    if (checks?.[check] === "pass") found[check] = "pass";
    if (checks?.[check] === "fail") {
      const named = Array.isArray(failures) ? failures.filter((failure) => failure?.check === check) : [];
      found[check] = named.length > 0 ? named : [{}];
    }
  }
  return found;
}

async function post(url: string, body: Uint8Array): Promise<{ status: number; body: Record<string, unknown> }> {
  try {
    const response = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: body as Uint8Array<ArrayBuffer>,
      redirect: "manual",
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    return { status: response.status, body: parseObject(await readBody(response, MAX_BUNDLE_BYTES)) };
  } catch (cause) {
    throw new AttestError("unreachable", `No answer from ${new URL(url).origin}.`, { cause });
  }
}

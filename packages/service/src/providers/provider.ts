import { isProofError } from "@attestd/proof";
import { hasCode, ServiceError } from "../lib/errors.ts";

/** Upstream nodes could not answer, or contradicted one another. This says nothing about the subject of the question. */
export type ProviderError = ServiceError<"providers_unavailable" | "providers_conflict">;

export function isProviderError(error: unknown): error is ProviderError {
  return hasCode(error, "providers_unavailable", "providers_conflict");
}

/** Whether providers gave no usable answer, or one that does not decode. */
export function isUnusable(error: unknown): boolean {
  return isProviderError(error) || isProofError(error, "malformed");
}

/** Returns the result, or the ProviderError that a computation throws. */
export function orProviderError<T>(compute: () => T): T | ProviderError {
  try {
    return compute();
  } catch (error) {
    if (isProviderError(error)) return error;
    throw error;
  }
}

/** Makes the error for a provider that gave no usable answer. */
export function unavailable(message: string, cause?: unknown): ProviderError {
  return new ServiceError("providers_unavailable", message, { cause });
}

export type ProviderErrorCode = "providers_unavailable" | "providers_conflict";

/** Upstream nodes could not answer, or contradicted one another. Never says anything about the thing asked for. */
export class ProviderError extends Error {
  readonly code: ProviderErrorCode;

  constructor(code: ProviderErrorCode, message: string, cause?: unknown) {
    super(message, { cause });
    this.name = "ProviderError";
    this.code = code;
  }
}

/** A ProviderError that says who could not answer, or what could not be learnt. */
export function unavailable(message: string, cause?: unknown): ProviderError {
  return new ProviderError("providers_unavailable", message, cause);
}

export type ProviderErrorCode = "providers_unavailable" | "providers_conflict";

/** Upstream nodes could not answer, or contradicted one another. This says nothing about the subject of the question. */
export class ProviderError extends Error {
  readonly code: ProviderErrorCode;

  constructor(code: ProviderErrorCode, message: string, cause?: unknown) {
    super(message, { cause });
    this.name = "ProviderError";
    this.code = code;
  }
}

/** The error for a provider that gave no usable answer. */
export function unavailable(message: string, cause?: unknown): ProviderError {
  return new ProviderError("providers_unavailable", message, cause);
}

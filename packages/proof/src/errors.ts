/** The reasons why a text is not JSON, or is ambiguous JSON. */
export type JsonFault =
  | "syntax"
  | "encoding"
  | "too_large"
  | "too_deep"
  | "too_many"
  | "duplicate_member"
  | "forbidden_member"
  | "lone_surrogate"
  | "unsafe_integer"
  | "number_spelling";

/**
 * - `json`: a text is not strict JSON; see `fault`, `line` and `pointer`
 * - `format`: the value at `pointer` does not have its required form
 * - `malformed`: bytes, or a text that encodes bytes, do not decode
 */
export type ProofErrorCode = "json" | "format" | "malformed";

export type ProofErrorDetails = {
  /** JSON pointer (RFC 6901) of the wrong value or member; long names are cut. */
  pointer?: string;
  fault?: JsonFault;
  /** Counted from 1. */
  line?: number;
  cause?: unknown;
};

/** The error of this package. */
export class ProofError extends Error {
  override readonly name = "ProofError";
  readonly code: ProofErrorCode;
  readonly pointer: string;
  readonly fault: JsonFault | undefined;
  readonly line: number | undefined;
  /** Whether the text is JSON that other parsers may read differently. */
  readonly isAmbiguous: boolean;

  constructor(code: ProofErrorCode, message: string, { pointer = "", fault, line, cause }: ProofErrorDetails = {}) {
    super(message, cause === undefined ? {} : { cause });
    this.code = code;
    this.pointer = pointer;
    this.fault = fault;
    this.line = line;
    this.isAmbiguous = fault !== undefined && !["syntax", "encoding", "too_large"].includes(fault);
  }
}

export function isProofError(error: unknown, code: ProofErrorCode): error is ProofError {
  return error instanceof ProofError && error.code === code;
}

/** Returns the result; undefined when the computation throws a ProofError with this code. */
export function attempt<T>(code: ProofErrorCode, compute: () => T): T | undefined {
  try {
    return compute();
  } catch (error) {
    if (isProofError(error, code)) return undefined;
    throw error;
  }
}

export function formatError(pointer: string, message: string): ProofError {
  return new ProofError("format", message, { pointer });
}

export function malformed(message: string, cause?: unknown): ProofError {
  return new ProofError("malformed", message, { cause });
}

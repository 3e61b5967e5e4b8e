import { expect } from "vitest";
import type { ServiceErrorCode } from "../src/lib/errors.ts";

/** Matches a ServiceError with this code. */
export function serviceError(code: ServiceErrorCode): unknown {
  return expect.objectContaining({ name: "ServiceError", code });
}

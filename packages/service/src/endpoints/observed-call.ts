import { Problem } from "../problems.ts";

/** A result, and the status that HTTP gives the same answer. */
export type Answered<T> = { status: number; result: T };

/**
 * Runs a call of an endpoint, and reports the status that HTTP gives its answer or its error.
 *
 * @throws what the call throws
 */
export async function observedCall<T>(
  report: ((status: number) => void) | undefined,
  call: () => Promise<Answered<T>>,
): Promise<T> {
  try {
    const { status, result } = await call();
    report?.(status);
    return result;
  } catch (error) {
    report?.(error instanceof Problem ? error.status : 500);
    throw error;
  }
}

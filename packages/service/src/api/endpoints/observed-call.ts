import { problemFor } from "../../lib/problems.ts";

/**
 * Runs an endpoint's call, and reports the HTTP status of its answer or error.
 * @param call returns its result with that status
 * @throws what the call throws
 */
export async function observedCall<T>(
  report: (status: number) => void,
  call: () => Promise<{ status: number; result: T }>,
): Promise<T> {
  try {
    const { status, result } = await call();
    report(status);
    return result;
  } catch (error) {
    report(problemFor(error)?.status ?? 500);
    throw error;
  }
}

import { concatBytes } from "@attestd/proof/encoding";
import { AttestError } from "./errors.ts";

/**
 * Reads the whole body of an answer.
 * @param largest bytes of the largest valid body; reading stops at twice as many, so that an endless answer ends
 * @throws AttestError `unexpected_answer` when it is larger
 */
export async function readBody(response: Response, largest: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  // Chrome before 124 cannot iterate over a stream.
  const reader = response.body?.getReader();
  for (let next = await reader?.read(); next?.value; next = await reader?.read()) {
    size += next.value.length;
    chunks.push(next.value);
    if (size <= 2 * largest) continue;
    await reader?.cancel();
    throw new AttestError("unexpected_answer", "The answer is larger than any bundle.");
  }
  return concatBytes(...chunks);
}

/** Returns the members of a JSON object; none when the body is anything else. */
export function parseObject(body: Uint8Array): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(body));
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

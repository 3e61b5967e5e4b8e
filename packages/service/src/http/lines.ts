/** The media type of JSON values, one per line. */
export const NDJSON = "application/x-ndjson";

/** Whether a request asks for lines: Accept names them before JSON, or without JSON. */
export function wantsLines(accept: string | undefined): boolean {
  if (accept === undefined) return false;
  const types = accept.split(",").map((one) => one.split(";", 1)[0]?.trim().toLowerCase());
  const [lines, json] = [types.indexOf(NDJSON), types.indexOf("application/json")];
  return lines !== -1 && (json === -1 || lines < json);
}

/** Yields texts as lines. */
export async function* asLines(texts: AsyncIterable<string>): AsyncGenerator<string, void, undefined> {
  for await (const text of texts) yield `${text}\n`;
}

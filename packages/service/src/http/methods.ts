/** A path in Hono's notation, and the methods that it takes. */
export type PathMethods = { path: string; methods: readonly string[] };

/** The value of Allow (RFC 9110, 10.2.1) for a path that exists; undefined where none does. */
export function allowedMethods(path: string, known: readonly PathMethods[]): string | undefined {
  const methods = known.filter((candidate) => matches(candidate.path, path)).flatMap((found) => found.methods);
  if (methods.length === 0) return undefined;
  return methods.flatMap((method) => (method === "GET" ? ["GET", "HEAD"] : [method])).join(", ");
}

function matches(pattern: string, path: string): boolean {
  const wanted = pattern.split("/");
  const given = path.split("/");
  return wanted.length === given.length && wanted.every((part, i) => part.startsWith(":") || part === given[i]);
}

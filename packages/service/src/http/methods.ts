import type { Endpoint } from "../catalogue.ts";

/** The value of Allow (RFC 9110, 10.2.1) for a path that exists; undefined where none does. */
export function allowedMethods(path: string, endpoints: readonly Endpoint[]): string | undefined {
  const methods = endpoints.filter((endpoint) => matches(endpoint.path, path)).map(({ method }) => method);
  if (methods.length === 0) return undefined;
  return methods.flatMap((method) => (method === "GET" ? ["GET", "HEAD"] : [method])).join(", ");
}

function matches(pattern: string, path: string): boolean {
  const wanted = pattern.split("/");
  const given = path.split("/");
  return wanted.length === given.length && wanted.every((part, i) => part.startsWith(":") || part === given[i]);
}

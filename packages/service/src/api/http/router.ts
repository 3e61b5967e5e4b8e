import type { Handler, Parameters, Route } from "../endpoints/transport.ts";

/** The handlers of a request target's path, and its parameters. */
type Found = Parameters & {
  /** The route's path, in which `:name` is a parameter. */
  path: string;
  /** Handlers by method. HEAD has GET's handler. */
  handlers: ReadonlyMap<string, Handler>;
  /** Value of Allow. */
  allow: string;
};

/**
 * Makes a router.
 * @param routes whose paths do not overlap
 * @returns a function of a request target: undefined if no route matches
 */
export function createRouter(routes: readonly Route[]) {
  const byPath = new Map<string, Found>();
  for (const [path, found] of Map.groupBy(routes, (route) => route.path))
    byPath.set(path, { path, ...handlersOf(found), params: {}, query: {} });
  const patterns = [...byPath].map(([path, place]) => ({ segments: path.split("/"), place }));

  return (target: string): Found | undefined => {
    // Most targets are exactly a path of the catalogue.
    const exact = byPath.get(target);
    if (exact) return exact;

    const url = parseTarget(target);
    if (!url) return undefined;
    const segments = url.pathname.split("/").map(decode);
    const found = patterns.find((pattern) => matches(pattern.segments, segments));
    return found && { ...found.place, params: paramsOf(found.segments, segments), query: queryOf(url) };
  };
}

function handlersOf(routes: readonly Route[]): Pick<Found, "handlers" | "allow"> {
  const handlers = new Map<string, Handler>();
  for (const { method, handle } of routes) {
    handlers.set(method, handle);
    if (method === "GET") handlers.set("HEAD", handle);
  }
  return { handlers, allow: [...handlers.keys()].join(", ") };
}

/**
 * Parses origin-form and absolute-form (RFC 9112, 3.2). `URL` reads a backslash as a slash, and no path of ours has
 * one.
 */
function parseTarget(target: string): URL | null {
  const [path = ""] = target.split("?", 1);
  if (path.includes("\\")) return null;
  return URL.parse(target.startsWith("/") ? `http://service${target}` : target);
}

function matches(pattern: readonly string[], segments: readonly string[]): boolean {
  return pattern.length === segments.length && pattern.every((part, i) => part.startsWith(":") || part === segments[i]);
}

function paramsOf(pattern: readonly string[], segments: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    pattern.flatMap((part, i) => (part.startsWith(":") ? [[part.slice(1), segments[i] ?? ""]] : [])),
  );
}

/** Returns the query's parameters; of a repeated parameter, the first value. */
function queryOf({ searchParams }: URL): Record<string, string> {
  return Object.fromEntries([...searchParams].reverse());
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

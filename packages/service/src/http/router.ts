import type { Parameters, Route } from "../endpoints/route.ts";

/** What there is at a path: a route for each method, and the parameters that the request target gives them. */
export type Found = Parameters & { routes: readonly Route[] };

/** Finds what a request target names. @returns undefined where there is nothing */
export type Router = (target: string) => Found | undefined;

/** @param routes whose paths do not overlap */
export function createRouter(routes: readonly Route[]): Router {
  const byPath = Map.groupBy(routes, ({ path }) => path);
  const patterns = [...byPath].map(([path, found]) => ({ segments: path.split("/"), routes: found }));

  return (target) => {
    // Most targets are a path as the catalogue has it.
    const exact = byPath.get(target);
    if (exact) return { routes: exact, params: {}, query: {} };

    const url = parseTarget(target);
    if (!url) return undefined;
    const segments = url.pathname.split("/").map(decode);
    const found = patterns.find((pattern) => matches(pattern.segments, segments));
    return found && { routes: found.routes, params: paramsOf(found.segments, segments), query: queryOf(url) };
  };
}

/** Origin-form and absolute-form (RFC 9112, 3.2). A backslash, which `URL` reads as a slash, is in no path of ours. */
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

/** Of a parameter that is given twice, the first. */
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

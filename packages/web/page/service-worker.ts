/** Set at build time: the page's own files, and a cache name that changes with them. */
declare const PAGE_FILES: string[];
declare const PAGE_VERSION: string;

type Extendable = Event & { waitUntil(work: Promise<unknown>): void };
type Fetching = Extendable & { request: Request; respondWith(answer: Promise<Response>): void };
type Scope = { skipWaiting(): Promise<void>; clients: { claim(): Promise<void> } };

const scope = globalThis as unknown as Scope;

addEventListener("install", (event) => {
  const keep = async () => {
    const cache = await caches.open(PAGE_VERSION);
    await cache.addAll(PAGE_FILES.map((path) => new Request(path, { cache: "no-cache" })));
    await scope.skipWaiting();
  };
  (event as Extendable).waitUntil(keep());
});

addEventListener("activate", (event) => {
  const tidy = async () => {
    const names = await caches.keys();
    await Promise.all(names.filter((name) => name !== PAGE_VERSION).map((name) => caches.delete(name)));
    await scope.clients.claim();
  };
  (event as Extendable).waitUntil(tidy());
});

// Only the page's own files: answers of the service are never cached.
addEventListener("fetch", (event) => {
  const { request } = event as Fetching;
  const { origin, pathname } = new URL(request.url);
  if (request.method !== "GET" || origin !== location.origin || !PAGE_FILES.includes(pathname)) return;
  (event as Fetching).respondWith(pathname.startsWith("/assets/") ? keptFirst(request) : freshFirst(request));
});

/** Files whose names change with their contents. */
async function keptFirst(request: Request): Promise<Response> {
  return (await caches.match(request)) ?? fetch(request);
}

/** Files that an update replaces; from the cache when the service is unreachable or fails. */
async function freshFirst(request: Request): Promise<Response> {
  const kept = () => caches.match(request);
  try {
    const answer = await fetch(request);
    return answer.status < 500 ? answer : ((await kept()) ?? answer);
  } catch (error) {
    const instead = await kept();
    if (instead) return instead;
    throw error;
  }
}

export {};

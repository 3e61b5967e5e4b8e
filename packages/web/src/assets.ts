import { readdir, readFile } from "node:fs/promises";
import { extname, join } from "node:path";

/** One file of the page, as it is served. */
export type PageAsset = NonNullable<Awaited<ReturnType<typeof readPage>>>[number];

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".json": "application/json",
};

const DIST = join(import.meta.dirname, "../dist");

/** Reads the built page. @returns undefined when `packages/web/build.ts` has not been run */
export async function readPage(folder = DIST) {
  const names = await readdir(folder, { recursive: true }).catch(() => []);
  const files = names.filter((name) => extname(name) in TYPES);
  if (!files.includes("index.html")) return undefined;
  return Promise.all(
    files.map(async (name) => ({
      /** URL path: `/`, `/assets/main-AB12.js`. */
      path: name === "index.html" ? "/" : `/${name.replaceAll("\\", "/")}`,
      type: TYPES[extname(name)] ?? "application/octet-stream",
      body: new Uint8Array(await readFile(join(folder, name))),
      /** Its name changes with its contents. */
      isImmutable: name.startsWith("assets"),
    })),
  );
}

import { readdir, readFile } from "node:fs/promises";
import { extname, join } from "node:path";

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".json": "application/json",
};

/**
 * What a document may load besides its own origin, by directive of its content security policy. Other documents may
 * load nothing else.
 */
const ALLOWS: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  // The API's renderer has icons in its style sheet.
  "/docs": { "img-src": ["data:"] },
};

const DIST = join(import.meta.dirname, "../dist");

/**
 * Reads the built page.
 * @returns each file with its headers; undefined when `packages/web/build.ts` has not been run
 */
export async function readPage(folder = DIST) {
  const names = await readdir(folder, { recursive: true }).catch(() => []);
  const files = names.filter((name) => extname(name) in TYPES);
  if (!files.includes("index.html")) return undefined;
  return Promise.all(
    files.map(async (name) => {
      const path = pathOf(name);
      return {
        path,
        type: TYPES[extname(name)] ?? "application/octet-stream",
        body: new Uint8Array(await readFile(join(folder, name))),
        // The file's name changes with its contents.
        isImmutable: name.startsWith("assets"),
        allows: ALLOWS[path],
      };
    }),
  );
}

/** Returns a file's URL path: a document's has no extension. */
function pathOf(name: string): string {
  return name === "index.html" ? "/" : `/${name.replaceAll("\\", "/").replace(/\.html$/, "")}`;
}

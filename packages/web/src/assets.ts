import { readdir, readFile } from "node:fs/promises";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** One file of the page, as it is served. */
export type PageAsset = {
  /** URL path: `/`, `/assets/main-AB12.js`. */
  path: string;
  type: string;
  body: Uint8Array<ArrayBuffer>;
  /** Its name changes with its contents. */
  isImmutable: boolean;
};

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".json": "application/json",
};

const DIST = fileURLToPath(new URL("../dist", import.meta.url));

/**
 * @param folder that the page was built into
 * @returns undefined when `packages/web/build.ts` has not been run
 */
export async function readPage(folder = DIST): Promise<PageAsset[] | undefined> {
  const names = await readdir(folder, { recursive: true }).catch(() => []);
  const files = names.filter((name) => extname(name) in TYPES);
  if (!files.includes("index.html")) return undefined;
  return Promise.all(
    files.map(async (name) => ({
      path: name === "index.html" ? "/" : `/${name.replaceAll("\\", "/")}`,
      type: TYPES[extname(name)] ?? "application/octet-stream",
      body: new Uint8Array(await readFile(join(folder, name))),
      isImmutable: name.startsWith("assets"),
    })),
  );
}

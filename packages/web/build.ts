import { createHash } from "node:crypto";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { type BuildOptions, build } from "esbuild";
import { exampleFile } from "./example.ts";

// Builds the page into `dist`: run by `npm ci`, and again by whoever changed the page. Nothing is fetched.

const HERE = fileURLToPath(new URL(".", import.meta.url));
const DIST = join(HERE, "dist");

/** Packages by which a program signs with keys of its own. The page signs with the reader's wallet and drops them. */
const NOT_HERE = ["algosdk", "viem*", "@solana/*", "@x402/avm*", "@x402/evm*", "@x402/svm*", "@x402/core/client"];

const COMMON: BuildOptions = {
  absWorkingDir: HERE,
  bundle: true,
  format: "esm",
  // `light-dark()`, `Promise.withResolvers`, `URL.parse`: browsers of 2024 and later.
  target: ["chrome126", "firefox126", "safari18"],
  minify: true,
  legalComments: "none",
  external: NOT_HERE,
  logLevel: "warning",
};

/**
 * Bundles one entry, and what it loads later, under names that change with their contents.
 * @returns their paths in the URL, the entry's first
 */
async function assets(entry: string, define: Record<string, string> = {}): Promise<[string, ...string[]]> {
  const { metafile } = await build({
    ...COMMON,
    define,
    entryPoints: [entry],
    entryNames: "[name]-[hash]",
    chunkNames: "[name]-[hash]",
    splitting: true,
    outdir: join(DIST, "assets"),
    metafile: true,
  });
  const outputs = Object.entries(metafile?.outputs ?? {});
  const isEntry = ([, { entryPoint }]: (typeof outputs)[number]) => entryPoint === entry;
  const paths = [...outputs.filter(isEntry), ...outputs.filter((output) => !isEntry(output))];
  return paths.map(([path]) => `/assets/${basename(path)}`) as [string, ...string[]];
}

await rm(DIST, { recursive: true, force: true });
await mkdir(DIST, { recursive: true });

const [worker] = await assets("page/judge-worker.ts");
const [script, ...chunks] = await assets("page/main.ts", { JUDGE_WORKER_URL: JSON.stringify(worker) });
const [style] = await assets("style.css");
const html = (await readFile(join(HERE, "index.html"), "utf8"))
  .replace("/assets/page.js", script)
  .replace("/assets/page.css", style);
const icon = await readFile(join(HERE, "icon.svg"), "utf8");
const example = exampleFile();
await writeFile(join(DIST, "index.html"), html);
await writeFile(join(DIST, "icon.svg"), icon);
await writeFile(join(DIST, "example.json"), example);

const version = createHash("sha256")
  .update(html + icon + example)
  .digest("hex")
  .slice(0, 16);
await build({
  ...COMMON,
  entryPoints: ["page/service-worker.ts"],
  outfile: join(DIST, "sw.js"),
  define: {
    PAGE_FILES: JSON.stringify(["/", "/icon.svg", "/example.json", worker, script, ...chunks, style]),
    PAGE_VERSION: JSON.stringify(`attestd-${version}`),
  },
});

import { createHash, hash } from "node:crypto";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { BuildOptions, Plugin } from "esbuild";
import { exampleFile } from "./example.ts";

// Builds the page into `dist`, or into the folder given as argument. `npm ci` runs it. Nothing is fetched. A second argument
// names a file for what the page was made of: as JSON, the SHA-256 in hex of each file by its path from this folder.

const { build } = await import("esbuild").catch(() => {
  // Without development dependencies the service answers at `/` that there is no page.
  console.warn("esbuild is not installed here, so the page is not built");
  process.exit(0);
});

const HERE = import.meta.dirname;
const OUT = resolve(process.argv[2] ?? join(HERE, "dist"));
const [, , , INPUTS] = process.argv;

/** Leaves out what signs with a program's own keys: the page signs with the reader's wallet. */
const withoutKeys: Plugin = {
  name: "without-keys",
  setup({ onResolve }) {
    onResolve({ filter: /^[^.]/ }, ({ importer, path }) =>
      importer === KEY_WALLET && !path.startsWith("@attestd/") ? { path, external: true } : undefined,
    );
  },
};
const KEY_WALLET = join(dirname(fileURLToPath(import.meta.resolve("@attestd/client"))), "wallet.ts");
/** Wallets that use-wallet knows and the page does not offer: they need servers or scripts of others. */
const OTHER_WALLETS = ["@blockshake/*", "@perawallet/*", "@walletconnect/*", "@web3auth/*"];

const COMMON = {
  absWorkingDir: HERE,
  bundle: true,
  format: "esm",
  // `light-dark()`, `Promise.withResolvers`, `URL.parse`: browsers of 2024 and later.
  target: ["chrome126", "firefox128", "safari18"],
  minify: true,
  legalComments: "none",
  plugins: [withoutKeys],
  external: ["/assets/*", ...OTHER_WALLETS],
  logLevel: "warning",
  metafile: true,
  write: false,
} as const satisfies BuildOptions;

/** The page's files by URL path. */
const files = new Map<string, string | Uint8Array>();
/** Paths of what they were made of. */
const inputs = new Set(["build.ts", "example.ts", "frame.html", "icon.svg"]);

/**
 * Bundles an entry and, unless `splitting` is false, the chunks that it loads apart, under names with a hash of their contents.
 * @returns their URL paths, the entry's own first
 */
async function asset(
  name: string,
  entry: string,
  define: Record<string, string> = {},
  splitting = true,
): Promise<[own: string, ...others: string[]]> {
  const { outputFiles, metafile } = await build({
    ...COMMON,
    define,
    entryPoints: { [name]: entry },
    entryNames: "[name]-[hash]",
    chunkNames: "[name]-[hash]",
    splitting,
    outdir: "/assets",
  });
  for (const { path, contents } of outputFiles) files.set(path, contents);
  // What a package leaves out in browsers is no file.
  for (const path of Object.keys(metafile.inputs)) if (!path.startsWith("(disabled):")) inputs.add(path);
  const paths = outputFiles.map(({ path }) => path);
  const own = paths.find((path) => path.startsWith(`/assets/${name}-`));
  if (own === undefined) throw new Error(`${entry} made no file`);
  return [own, ...paths.filter((path) => path !== own)];
}

const frame = await readFile(join(HERE, "frame.html"), "utf8");

type Document = {
  title: string;
  description: string;
  /** What a reader without JavaScript can do instead. */
  noscript: string;
  style: string;
  /** Its script, and the chunks that this loads. */
  scripts: readonly [own: string, ...chunks: string[]];
};

/** Makes a document of the frame that all share. */
function html({ title, description, noscript, style, scripts: [script, ...chunks] }: Document): string {
  // Preloads what the script imports at once.
  const shared = chunks.filter((path) => path.startsWith("/assets/chunk-"));
  const preloads = shared.map((path) => `    <link rel="modulepreload" href="${path}">\n`).join("");
  const values: Record<string, string> = { title, description, noscript, style, script, preloads };
  return frame.replaceAll(/\{\{(\w+)\}\}/g, (_, name: string) => values[name] ?? "");
}

// In one file with the fonts of certificates, so that no later request shows that one is judged.
const [worker] = await asset("judge", "page/judge-worker.ts", {}, false);
// Large, loaded once a wallet is chosen, and of no use without a network: no chunks of the page, which keeps those.
const [arc27] = await asset("arc27", "page/buy/libraries/arc27.ts");
const [algorand] = await asset("algorand", "page/buy/libraries/algorand.ts");
const [solana] = await asset("solana", "page/buy/libraries/solana.ts");
const scripts = await asset("page", "page/main.ts", {
  JUDGE_WORKER_URL: JSON.stringify(worker),
  ARC27_URL: JSON.stringify(arc27),
  ALGORAND_URL: JSON.stringify(algorand),
  SOLANA_URL: JSON.stringify(solana),
});
const [style] = await asset("style", "style.css");
files.set("/icon.svg", await readFile(join(HERE, "icon.svg")));
files.set("/example.json", exampleFile());
files.set(
  "/index.html",
  html({
    title: "Check an attestation",
    description: "Check an attestation of an Algorand or Base transaction in your browser, or buy one.",
    noscript:
      "Your browser does the checking, and needs JavaScript for it. The command line and docs/verify need none.",
    style,
    scripts,
  }),
);
const docs = await asset("docs", "page/docs.ts");
const [docsStyle] = await asset("docs-style", "docs.css");
files.set(
  "/docs.html",
  html({
    title: "API",
    description: "The API of this service, with examples in curl, Python, Go and JavaScript.",
    noscript: "The contract is at /openapi.json, and as text at /llms.txt.",
    style: docsStyle,
    scripts: docs,
  }),
);

const version = createHash("sha256");
for (const contents of files.values()) version.update(contents);
const { outputFiles: serviceWorker } = await build({
  ...COMMON,
  entryPoints: ["page/service-worker.ts"],
  outdir: "/",
  define: {
    PAGE_FILES: JSON.stringify(["/", "/icon.svg", "/example.json", worker, ...scripts, style]),
    PAGE_VERSION: JSON.stringify(`attestd-${version.digest("hex").slice(0, 16)}`),
  },
});
for (const { contents } of serviceWorker) files.set("/sw.js", contents);

await rm(OUT, { recursive: true, force: true });
for (const [path, contents] of files) {
  await mkdir(dirname(join(OUT, path)), { recursive: true });
  await writeFile(join(OUT, path), contents);
}
const digest = async (path: string) => [path, hash("sha256", await readFile(join(HERE, path)))];
if (INPUTS !== undefined)
  await writeFile(INPUTS, JSON.stringify(Object.fromEntries(await Promise.all([...inputs].sort().map(digest)))));

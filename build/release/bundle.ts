import { readFileSync } from "node:fs";
import { glob } from "node:fs/promises";
import { isBuiltin } from "node:module";
import { basename, dirname, join } from "node:path";
import { type BuildOptions, build, type Metafile } from "esbuild";
import { revisionOf } from "../../packages/service/src/config/revision.ts";
import { ROOT } from "./paths.ts";
import { ownSources, packages, SANDBOX_ENTRY, sandboxApart, standIns } from "./plugins.ts";

/** Bundled code. */
export type Bundle = {
  /** Contents by name. All lie in one folder. */
  files: ReadonlyMap<string, Uint8Array>;
  /** What it was made of: paths in the workspace. */
  inputs: ReadonlySet<string>;
};

/** Optional packages that are not installed: their users go without them. */
const ABSENT = ["pg-native", "bufferutil", "utf-8-validate"];

/**
 * Before every file. CommonJS packages get Node's own modules by it and nothing else: no folder in which the archive is
 * unpacked, and no current folder, can give them a package. `FOLDER` is for those that cannot write `import.meta`.
 */
const BEFORE_EACH = `const FOLDER = import.meta.dirname;
const require = (id) => {
  const builtin = process.getBuiltinModule(id);
  if (builtin) return builtin;
  throw Object.assign(new Error(\`\${id} is not in this archive\`), { code: "MODULE_NOT_FOUND" });
};`;

/** Not minified: who runs it can read it, and a stack trace names its functions. That costs 2 MB and no time. */
const COMMON = {
  external: ABSENT,
  absWorkingDir: ROOT,
  bundle: true,
  format: "esm",
  platform: "node",
  target: "node26",
  splitting: true,
  outdir: join(ROOT, "dist"),
  outExtension: { ".js": ".mjs" },
  chunkNames: "[name]-[hash]",
  legalComments: "inline",
  banner: { js: BEFORE_EACH },
  metafile: true,
  write: false,
  logLevel: "warning",
} as const satisfies BuildOptions;

/** A module that is loaded by its URL: a worker, what a worker loads, or the command as a child process. */
export const MODULE_URL = /new URL\("(\.[^"]+\.ts)", import\.meta\.url\)/g;

/** The packages in the archive of the command. */
export const COMMAND_PACKAGES = "{attestd,client,proof,service,web}";

/** The command without the sandbox, in `attestd.mjs` and what it loads. */
export async function bundleCommand(): Promise<Bundle> {
  const entries = await entriesOf(COMMAND_PACKAGES, "packages/attestd/src/main.ts", "attestd");
  return bundle(entries, sandboxApart);
}

/** The sandbox's networks, in `sandbox.mjs` and what it loads. */
export async function bundleSandbox(): Promise<Bundle> {
  return bundle(await entriesOf("sandbox", "packages/sandbox/src/sandbox.ts", "sandbox"));
}

/** Names of the bundle's entries by path in the workspace: the first one, and every module that is loaded by its URL. */
export async function entriesOf(packages: string, first: string, name: string): Promise<ReadonlyMap<string, string>> {
  const entries = new Map([[first, name]]);
  for await (const path of glob(`packages/${packages}/src/**/*.ts`, { cwd: ROOT })) {
    if (path.endsWith(".test.ts")) continue;
    for (const [, url = ""] of readFileSync(join(ROOT, path), "utf8").matchAll(MODULE_URL)) {
      const entry = join(dirname(path), url);
      const named = entry.slice("packages/".length, -".ts".length).replaceAll(/\/(src\/)?/g, "-");
      if (!entries.has(entry)) entries.set(entry, named);
    }
  }
  return new Map([...entries].sort());
}

/** @param entries names of files by path in the workspace */
async function bundle(entries: ReadonlyMap<string, string>, ...plugins: BuildOptions["plugins"] & {}): Promise<Bundle> {
  const { outputFiles, metafile } = await build({
    ...COMMON,
    entryPoints: Object.fromEntries([...entries].map(([path, name]) => [name, join(ROOT, path)])),
    define: {
      RELEASE_ARCHIVE: "true",
      RELEASE_REVISION: JSON.stringify(revisionOf() ?? ""),
    },
    plugins: [...plugins, standIns, ownSources(MODULE_URL, entries), packages],
  });
  checkComplete(metafile);
  return {
    files: new Map(outputFiles.map(({ path, contents }) => [basename(path), contents])),
    inputs: new Set(Object.keys(metafile.inputs).filter((path) => !path.startsWith("named:"))),
  };
}

/** @throws Error when a file would look for something outside of the archive, or not find it in another one */
function checkComplete({ inputs, outputs }: Metafile): void {
  const imports = Object.values(outputs).flatMap(({ imports }) => imports.filter(({ external }) => external));
  const missing = imports.filter(({ path }) => !isBuiltin(path) && !ABSENT.includes(path) && path !== SANDBOX_ENTRY);
  if (missing.length > 0) throw new Error(`not in the bundle: ${missing.map(({ path }) => path).join(", ")}`);
  const nameless = Object.values(outputs).find(({ entryPoint = "" }) => inputs[entryPoint]?.format === "cjs");
  if (nameless) throw new Error(`${nameless.entryPoint} has no named exports in the bundle`);
}

import { readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import type { Plugin } from "esbuild";
import { installedPackages, packageFolder } from "./installed.ts";
import { ROOT } from "./paths.ts";

/** Where the command finds the sandbox, if its archive is unpacked too. */
export const SANDBOX_ENTRY = "./sandbox/sandbox.mjs";

/** Leaves the sandbox out of the command, which loads it when it is asked for one. */
export const sandboxApart: Plugin = {
  name: "sandbox-apart",
  setup({ onResolve }) {
    onResolve({ filter: /^@attestd\/sandbox$/ }, () => ({ path: SANDBOX_ENTRY, external: true }));
  },
};

/** Modules that look for a file of an installed package; in the archive the file lies beside the bundled code. */
const STAND_INS: Readonly<Record<string, string>> = {
  "packages/sandbox/src/base/anvil-binary.ts":
    'import { join } from "node:path"; export const anvilBinary = () => join(import.meta.dirname, "anvil");',
  // A CommonJS module, whose `module.exports` the native code fills in.
  "node_modules/litesvm/dist/internal.js": 'process.dlopen(module, require("node:path").join(FOLDER, "litesvm.node"));',
};

export const standIns: Plugin = {
  name: "stand-ins",
  setup({ onLoad }) {
    onLoad({ filter: /[/\\](anvil-binary\.ts|litesvm[/\\]dist[/\\]internal\.js)$/ }, ({ path }) => {
      const contents = STAND_INS[relative(ROOT, path)];
      if (contents === undefined) throw new Error(`${path}: no stand-in`);
      return { contents, loader: path.endsWith(".ts") ? "ts" : "js" };
    });
    // Some forty languages, which every start would read; messages are in English.
    onLoad({ filter: /[/\\]zod[/\\]v4[/\\]locales[/\\]index\.js$/ }, () => ({
      contents: 'export { default as en } from "./en.js";',
      loader: "js",
    }));
  },
};

/** Own modules that find a file of the archive from their place in it, with what they must name instead. */
const PLACES: Readonly<Record<string, readonly [was: string, is: string]>> = {
  "packages/attestd/src/commands/sandbox/description.ts": ['"../bin/attestd"', '"../bin/attestd"'],
  "packages/web/src/assets.ts": ['"../dist"', '"../page"'],
  // Unused: the build of an archive defines the commit.
  "packages/service/src/config/revision.ts": ['"../../../.."', '"."'],
};

/**
 * Leads own code to other files of the bundle.
 *
 * @param moduleUrl matches the URL of a module, whose path it captures
 * @param entries names of entries by path in the workspace
 */
export function ownSources(moduleUrl: RegExp, entries: ReadonlyMap<string, string>): Plugin {
  return {
    name: "own-sources",
    setup({ onLoad }) {
      onLoad({ filter: /[/\\]packages[/\\]\w+[/\\](src|token)[/\\].*\.ts$/ }, ({ path }) => {
        const contents = ownSource(relative(ROOT, path), readFileSync(path, "utf8"), moduleUrl, entries);
        return { contents, loader: "ts" };
      });
    },
  };
}

/**
 * Finds packages as esbuild does, but for two things. A package without dependencies that npm has installed several times, in
 * one version, is taken from one place. And a CommonJS package that is imported when it is needed has the named exports that
 * Node finds in it: esbuild gives it its default export alone, and a call of any other one would fail when it is made.
 */
export const packages: Plugin = {
  name: "packages",
  setup({ onResolve, onLoad, resolve }) {
    const places = placesOfCopies();
    onResolve({ filter: /^[^./]/ }, async ({ path: name, pluginData, ...options }) => {
      if (pluginData === packages) return undefined;
      const { importer, namespace, resolveDir, kind, with: attributes } = options;
      const found = await resolve(name, {
        importer,
        namespace,
        resolveDir,
        kind,
        with: attributes,
        pluginData: packages,
      });
      const folder = packageFolder(relative(ROOT, found.path));
      if (folder === undefined) return found;
      const path = join(ROOT, places.get(folder) ?? folder, relative(join(ROOT, folder), found.path));
      const exported = kind === "dynamic-import" ? await exportedBy(path) : [];
      // Left to esbuild: of what a plugin resolves it does not learn whether it is an ES module for Node, and of a module that others
      // import by a relative path, the first import would decide.
      if (!exported.includes(COMMON_JS)) return path === found.path ? undefined : { ...found, path };
      // Relative, since it stands in the bundle.
      return { path: relative(ROOT, path), namespace: NAMED, pluginData: exported };
    });
    onLoad({ filter: /./, namespace: NAMED }, ({ path, pluginData }) => {
      const names = (pluginData as string[]).filter((name) => name !== COMMON_JS && name !== "default");
      const whole = `const all = require(${JSON.stringify(`./${path}`)});`;
      const contents = `${whole} export const { ${names.join(", ")} } = all; export default all;`;
      return { contents, resolveDir: ROOT };
    });
  },
};

/** Node's name of what a CommonJS module exports as a whole. */
const COMMON_JS = "module.exports";
/** Namespace of modules that give a CommonJS module named exports. */
const NAMED = "named";

/** Names that Node finds in a module; none of one that is written for bundlers alone, as no CommonJS module is. */
async function exportedBy(path: string): Promise<string[]> {
  try {
    return Object.keys(await import(path));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ERR_MODULE_NOT_FOUND") return [];
    throw error;
  }
}

/** By the folder of a package without dependencies: that of its copy to take. */
function placesOfCopies(): ReadonlyMap<string, string> {
  const first = new Map<string, string>();
  const places = new Map<string, string>();
  for (const { folder, name, version, alone } of installedPackages()) {
    if (!alone) continue;
    const same = `${name}@${version}`;
    if (!first.has(same)) first.set(same, folder);
    places.set(folder, first.get(same) ?? folder);
  }
  return places;
}

/** A source as a bundle takes it. @throws Error when it would look for a file where an archive has none */
export function ownSource(
  own: string,
  source: string,
  moduleUrl: RegExp,
  entries: ReadonlyMap<string, string>,
): string {
  const [was, is] = PLACES[own] ?? ["", ""];
  if (!source.includes(was)) throw new Error(`${own}: no ${was}`);
  const contents = source
    .replace(was, is)
    // esbuild follows only its own `require`.
    .replace(/^const require = createRequire\(import\.meta\.url\);\n/m, "")
    .replace(moduleUrl, (_, url: string) => {
      const name = entries.get(join(dirname(own), url));
      if (name === undefined) throw new Error(`${own}: ${url} is no entry of the bundle`);
      return `new URL("./${name}.mjs", import.meta.url)`;
    });
  const left = contents.replaceAll(/new URL\("\.\/[\w-]+\.mjs", import\.meta\.url\)/g, "");
  if (!PLACES[own] && /import\.meta\.(url|dirname|filename|resolve)/.test(left))
    throw new Error(`${own} looks for a file from its own place, which a bundle changes`);
  return contents;
}

/** Own modules that an archive has in another form. */
export const REPLACED: readonly string[] = Object.keys(STAND_INS);

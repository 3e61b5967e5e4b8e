/**
 * `npm pack` and `npm publish` of a package of this workspace, run in its folder: `prepare` before, `restore` after.
 *
 * Here `exports` names TypeScript, which Node runs without a build. It does not do so inside a node_modules, so that the
 * package as published is compiled, and its package.json names what was compiled. npm takes package.json from the
 * folder, so that the published one must stand there while npm packs.
 *
 * Should npm be stopped in between, nothing is lost and nothing breaks: the workspace's own package.json is in BACKUP,
 * the published one leads to a complete `dist`, and the next `npm pack`, or `npm run postpack`, puts things back.
 */
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";

const MANIFEST = "package.json";
const BACKUP = "package.json.workspace";

/** Compiles the package, and puts the published package.json in the place of the workspace's. */
function prepare() {
  restore();
  rmSync("dist", { recursive: true, force: true });
  // A shell, since the command is a script of another kind on Windows.
  execFileSync("tsc --build --force tsconfig.build.json", { stdio: "inherit", shell: true });
  for (const path of readdirSync("dist", { recursive: true, encoding: "utf8" }))
    if (path.endsWith(".d.ts")) writeWhole(`dist/${path}`, withoutSources(readFileSync(`dist/${path}`, "utf8")));
  const manifest = readFileSync(MANIFEST, "utf8");
  writeWhole(BACKUP, manifest);
  writeWhole(MANIFEST, `${JSON.stringify(published(JSON.parse(manifest)), null, 2)}\n`);
}

/** Declarations that name modules as they are published. tsc leaves `.ts` in them, which only newer versions resolve. */
function withoutSources(declarations) {
  return declarations.replace(/(\bfrom |\bimport\()"(\.[^"]+)\.ts"/g, '$1"$2.js"');
}

/** Puts the workspace's package.json back, where `prepare` moved it away. */
function restore() {
  if (existsSync(BACKUP)) renameSync(BACKUP, MANIFEST);
}

/**
 * The package.json of the package as published: its entries lead to what was compiled. The scripts stay, though no one who
 * installs the package runs them: by them a stopped `npm pack` is put right.
 */
function published({ devDependencies: _devDependencies, exports, ...manifest }) {
  const compiled = Object.entries(exports).map(([entry, source]) => {
    const [, module] = /^\.\/src\/(.+)\.ts$/.exec(source);
    return [entry, { types: `./dist/${module}.d.ts`, default: `./dist/${module}.js` }];
  });
  return { ...manifest, exports: { ...Object.fromEntries(compiled), "./package.json": "./package.json" } };
}

/** So that at no moment half a file has the name. */
function writeWhole(path, content) {
  writeFileSync(`${path}.new`, content);
  renameSync(`${path}.new`, path);
}

({ prepare, restore })[process.argv[2]]();

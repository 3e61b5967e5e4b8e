import { createRequire, registerHooks } from "node:module";
import { pathToFileURL } from "node:url";

/*
 * Preload (node --import) for tools that need the compiler's JavaScript API, which TypeScript 7 does not have: they get
 * TypeScript 6, as @ts-morph/common carries it.
 */

const require = createRequire(import.meta.url);
const compiler = require.resolve("@ts-morph/common/dist/typescript.js");
const manifest = JSON.stringify({ version: require(compiler).version });

registerHooks({
  resolve: (name, context, next) =>
    name === "typescript" ? { url: pathToFileURL(compiler).href, shortCircuit: true } : next(name, context),
  load: (url, context, next) =>
    url.endsWith("/node_modules/typescript/package.json")
      ? { format: "json", source: manifest, shortCircuit: true }
      : next(url, context),
});

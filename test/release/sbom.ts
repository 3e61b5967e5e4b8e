import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ARCHIVES, ROOT, run } from "./files.ts";

type Component = { name: string; version: string; purl: string; hashes: { content: string }[] };
type Bom = { components: Component[] };

/**
 * Compares the bills of materials with the paths that esbuild writes as comments into what it bundles, and with what npm says
 * of the same packages.
 */
export function contentsAsListed(unpacked: string): string {
  const top = join(unpacked, ARCHIVES.top);
  const ofNpm = new Map<string, Component>();
  const whole = JSON.parse(run("npm", ["sbom", "--sbom-format", "cyclonedx"], { cwd: ROOT })) as Bom;
  for (const component of whole.components) ofNpm.set(component.purl, component);
  const counts = [join(top, "lib"), join(top, "lib/sandbox")].map((lib, isSandbox) => {
    const file = isSandbox ? join(lib, "sbom.cdx.json") : join(top, "sbom.cdx.json");
    const { components } = JSON.parse(readFileSync(file, "utf8")) as Bom;
    const listed = new Set(components.map(({ purl }) => purl));
    const missing = [...bundledIn(lib)].filter((purl) => !listed.has(purl));
    if (missing.length > 0) throw new Error(`not listed: ${missing.join(", ")}`);
    for (const { purl, hashes } of components)
      if (hashes[0]?.content !== ofNpm.get(purl)?.hashes[0]?.content) throw new Error(`${purl} is not as npm knows it`);
    const licences = readFileSync(file.replace("sbom.cdx.json", "THIRD-PARTY.txt"), "utf8");
    const unlicensed = components.find(({ name, version }) => !licences.includes(`\n${name} ${version} (`));
    if (unlicensed) throw new Error(`${unlicensed.purl} has no licence in ${file}`);
    return components.length;
  });
  return `${counts.join(" and ")} packages`;
}

/** Package URLs of the packages whose code is in a folder. */
function bundledIn(lib: string): ReadonlySet<string> {
  const folders = new Set<string>();
  for (const name of readdirSync(lib).filter((name) => name.endsWith(".mjs")))
    for (const [folder] of readFileSync(join(lib, name), "utf8").matchAll(
      /(?<=^ *\/\/ )\S*node_modules\/(@[\w.-]+\/)?[\w.-]+(?=\/)/gm,
    ))
      folders.add(folder.replace(/^named:/, ""));
  if (folders.size === 0) throw new Error(`${lib} has no package`);
  return new Set(
    [...folders].map((folder) => {
      const { name, version } = JSON.parse(readFileSync(join(ROOT, folder, "package.json"), "utf8"));
      return `pkg:npm/${name.replace("@", "%40")}@${version}`;
    }),
  );
}

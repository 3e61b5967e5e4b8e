/**
 * `npm run dist`: release archives of the command and of the sandbox, into `dist`. docs/installing.md says how they are used.
 *
 *     npm run dist                               for this platform
 *     npm run dist -- linux-x64 linux-arm64      for these
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import packageJson from "../../packages/attestd/package.json" with { type: "json" };
import { type Contents, type Packed, writeArchive } from "./archive.ts";
import { type Bundle, bundleCommand, bundleSandbox } from "./bundle.ts";
import { sbomOf, thirdParty } from "./documents.ts";
import { partsOf } from "./parts.ts";
import { ROOT } from "./paths.ts";
import { type Native, nativePackage, nodeOf, OWN_PLATFORM, PLATFORMS } from "./platform.ts";

const OUT = join(ROOT, "dist");
const { version } = packageJson;

/** Files of the workspace in every archive of the command, by their path in it. */
const FILES: Readonly<Record<string, string>> = {
  LICENSE: "LICENSE",
  ...Object.fromEntries(
    readdirSync(join(ROOT, "packaging/systemd")).map((name) => [`systemd/${name}`, `packaging/systemd/${name}`]),
  ),
  "README.md": "packaging/README.md",
};

const platforms = process.argv.length > 2 ? process.argv.slice(2) : [OWN_PLATFORM];
const unknown = platforms.find((platform) => !PLATFORMS[platform]);
if (unknown !== undefined) {
  console.error(`no Node for ${unknown}. There is one for ${Object.keys(PLATFORMS).join(", ")}`);
  process.exit(2);
}

rmSync(OUT, { recursive: true, force: true });
mkdirSync(OUT, { recursive: true });
const [command, sandbox, page] = [await bundleCommand(), await bundleSandbox(), buildPage()];
const sums: string[] = [];
for (const platform of platforms) {
  const top = `attestd-${version}-${platform}`;
  const { node, anvil, litesvm } = PLATFORMS[platform] as (typeof PLATFORMS)[string];
  sums.push(await writeArchive(OUT, top, top, await commandContents(platform, node)));
  const natives = await Promise.all([anvil, litesvm].map(async (name) => name && (await nativePackage(name))));
  const [evm, svm] = natives;
  if (evm && svm)
    sums.push(await writeArchive(OUT, `attestd-sandbox-${version}-${platform}`, top, sandboxContents(evm, svm)));
  else console.log(`no sandbox for ${platform}: package-lock.json has no anvil or no litesvm for it`);
}
writeFileSync(join(OUT, "SHA256SUMS"), sums.join(""));
process.stdout.write(sums.join(""));

async function commandContents(platform: string, name: string): Promise<Contents> {
  const node = await nativePackage(name);
  if (!node) throw new Error(`${name} is not in package-lock.json`);
  const parts = partsOf([...command.inputs, ...page.inputs], [node]);
  return new Map<string, Packed>([
    ["bin/attestd", { bytes: read("packaging/attestd"), executable: true }],
    ["lib/node", { bytes: nodeOf(node, platform), executable: true }],
    ...inFolder("lib", command.files),
    ...inFolder("page", page.files),
    ...Object.entries(FILES).map(([path, source]) => [path, { bytes: read(source) }] as const),
    ["THIRD-PARTY.txt", { bytes: thirdParty(parts) }],
    ["sbom.cdx.json", { bytes: sbomOf("attestd", version, parts) }],
  ]);
}

function sandboxContents(anvil: Native, litesvm: Native): Contents {
  const parts = partsOf(sandbox.inputs, [anvil, litesvm]);
  const [addon = ""] = readdirSync(litesvm.folder).filter((file) => file.endsWith(".node"));
  return new Map<string, Packed>([
    ["lib/sandbox/anvil", { bytes: readFileSync(join(anvil.folder, "bin/anvil")), executable: true }],
    ["lib/sandbox/litesvm.node", { bytes: readFileSync(join(litesvm.folder, addon)) }],
    ...inFolder("lib/sandbox", sandbox.files),
    ["lib/sandbox/THIRD-PARTY.txt", { bytes: thirdParty(parts) }],
    ["lib/sandbox/sbom.cdx.json", { bytes: sbomOf("attestd-sandbox", version, parts) }],
  ]);
}

function buildPage(): Bundle {
  const web = join(ROOT, "packages/web");
  const [folder, list] = [join(OUT, "page"), join(OUT, "page-inputs.json")];
  execFileSync(process.execPath, [join(web, "build.ts"), folder, list], { stdio: "inherit" });
  const inputs = Object.keys(JSON.parse(readFileSync(list, "utf8"))).map((path) => relative(ROOT, join(web, path)));
  const names = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => relative(folder, join(parentPath, name)));
  const files = new Map(names.map((name) => [name, readFileSync(join(folder, name))]));
  rmSync(folder, { recursive: true });
  rmSync(list);
  return { files, inputs: new Set(inputs) };
}

function inFolder(folder: string, files: Bundle["files"]) {
  return [...files].map(([name, bytes]) => [`${folder}/${name}`, { bytes }] as const);
}

function read(path: string): Uint8Array {
  return readFileSync(join(ROOT, path));
}

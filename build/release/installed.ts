import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "./paths.ts";

/** A package that package-lock.json installs. */
export type Installed = {
  /** Path in the workspace. */
  folder: string;
  name: string;
  version: string;
  /** SPDX. */
  license: string;
  /** Base64 SHA-512 of the package as published. */
  sha512: string;
  /** Whether it needs no other package. */
  alone: boolean;
};

type Lock = { packages: Record<string, Locked> };
type Locked = {
  name?: string;
  version: string;
  license?: string;
  integrity?: string;
  link?: boolean;
  dependencies?: object;
  peerDependencies?: object;
};

/** Every package of package-lock.json, other than those of this workspace, by folder. */
export function installedPackages(): Installed[] {
  const { packages } = JSON.parse(readFileSync(join(ROOT, "package-lock.json"), "utf8")) as Lock;
  return Object.entries(packages)
    .filter(([folder, { link }]) => folder.includes("node_modules/") && !link)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([folder, { name, version, license = "", integrity = "", dependencies, peerDependencies }]) => ({
      folder,
      name: name ?? folder.slice(folder.lastIndexOf("node_modules/") + "node_modules/".length),
      version,
      license,
      sha512: integrity.replace(/^sha512-/, ""),
      alone: !dependencies && !peerDependencies,
    }));
}

/** The folder of the package that has a file. @param path in the workspace */
export function packageFolder(path: string): string | undefined {
  return /^.*node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(path.replaceAll("\\", "/"))?.[0];
}

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { installedPackages, packageFolder } from "./installed.ts";
import { ROOT } from "./paths.ts";
import type { Native } from "./platform.ts";

/** A package of someone else's that an archive has, whole or in part. */
export type Part = {
  name: string;
  version: string;
  /** SPDX. */
  license: string;
  /** Lower-case hex SHA-512 of the package as published. */
  sha512: string;
  /** As its package.json says; empty where it says nothing. */
  author: string;
  /** Texts of its licence and notice files. */
  texts: readonly string[];
};

/** Files of this workspace that were made of packages, and have their licences with them. */
const MADE_OF: Readonly<Record<string, readonly string[]>> = {
  "packages/web/fonts/embedded.compiled.json": ["@fontsource/arimo", "@fontsource/cousine"],
  "packages/sandbox/token/SandboxUSDC.compiled.json": ["@openzeppelin/contracts"],
};

/** Licences under which anyone may distribute a program. A package with another one needs a person to read it. */
const ALLOWED =
  /^(MIT|ISC|Apache-2\.0|BSD-[23]-Clause|0BSD|BlueOak-1\.0\.0|Unlicense|CC0-1\.0|OFL-1\.1|\(?MIT OR Apache-2\.0\)?)$/;

/**
 * The packages of a bundle, by name and version.
 *
 * @param inputs paths in the workspace
 * @throws Error for a licence that is not in `ALLOWED`, and a package that package-lock.json does not have
 */
export function partsOf(inputs: Iterable<string>, natives: readonly Native[]): Part[] {
  const installed = new Map(installedPackages().map((one) => [one.folder, one]));
  const folders = new Set<string>();
  for (const input of inputs) {
    const folder = packageFolder(input);
    if (folder !== undefined) folders.add(folder);
    for (const name of MADE_OF[input] ?? []) folders.add(`node_modules/${name}`);
  }
  const parts = new Map<string, Part>();
  const add = (folder: string, files: string) => {
    const found = installed.get(folder);
    if (!found) throw new Error(`${folder} is not in package-lock.json`);
    const { name, version, license, sha512 } = found;
    if (!ALLOWED.test(license))
      throw new Error(`${name} ${version} has the licence ${license}: may it be distributed?`);
    const hex = Buffer.from(sha512, "base64").toString("hex");
    parts.set(`${name}@${version}`, {
      name,
      version,
      license,
      sha512: hex,
      author: authorOf(files),
      texts: licenceTexts(files),
    });
  };
  for (const folder of folders) add(folder, join(ROOT, folder));
  for (const native of natives) add(native.installed.folder, native.folder);
  return [...parts].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, part]) => part);
}

function licenceTexts(folder: string): string[] {
  return readdirSync(folder)
    .filter((file) => /^(licen[cs]e|copying|notice)/i.test(file))
    .sort()
    .map((file) => readFileSync(join(folder, file), "utf8").replaceAll("\r\n", "\n").trim());
}

function authorOf(folder: string): string {
  const { author = "" } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  return typeof author === "string" ? author : author.name;
}

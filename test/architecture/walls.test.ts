import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { describe, expect, test } from "vitest";

/* The "never" list of the design: which way arrows may point, and who may touch what. */

const ROOT = resolve(import.meta.dirname, "../..");
/** Tests, their furniture, and what builds the page's example by it. */
const isTest = (path: string) => /\.test\.ts$|\/(test|simulation|fixtures)\/|^packages\/web\/example\.ts$/.test(path);

const FILES = readdirSync(join(ROOT, "packages"), { recursive: true, encoding: "utf8" })
  .filter((path) => /\.[mc]?[jt]s$/.test(path) && !/node_modules|\/dist\//.test(path))
  .map((path) => ({ path: join("packages", path), text: readFileSync(join(ROOT, "packages", path), "utf8") }));
const SOURCES = FILES.filter(({ path }) => !isTest(path));
const inPackage = (name: string, files = SOURCES) => files.filter(({ path }) => path.startsWith(`packages/${name}/`));

/** Every module that a file names: static, type-only, re-exporting and dynamic imports, and worker URLs. */
function imports({ text }: { text: string }): string[] {
  const pattern = /(?:\bfrom\s+|\bimport\s+|\bimport\s*\(\s*|\bnew URL\(\s*)["']([^"']+)["']/g;
  return [...text.matchAll(pattern)].map(([, specifier]) => specifier as string);
}

/** A relative import as a path from the root. */
function target(path: string, specifier: string): string {
  return relative(ROOT, resolve(ROOT, dirname(path), specifier));
}

describe("the walls", () => {
  test("proof imports noble libraries and itself, and nothing else", () => {
    const foreign = inPackage("proof").flatMap((file) =>
      imports(file)
        .filter((specifier) => !specifier.startsWith("@noble/"))
        .filter(
          (specifier) => !(specifier.startsWith(".") && target(file.path, specifier).startsWith("packages/proof/")),
        )
        .map((specifier) => `${file.path}: ${specifier}`),
    );
    expect(foreign).toEqual([]);
  });

  test.each([
    ["service", "sandbox"],
    ["sandbox", "service"],
    ["client", "service"],
    ["client", "sandbox"],
    ["service", "web"],
    ["web", "service"],
    ["web", "sandbox"],
  ])("%s never imports %s, in tests neither", (from, to) => {
    const crossing = inPackage(from, FILES).flatMap((file) =>
      imports(file)
        .filter(
          (specifier) =>
            specifier.startsWith(`@attestd/${to}`) || target(file.path, specifier).startsWith(`packages/${to}/`),
        )
        .map((specifier) => `${file.path}: ${specifier}`),
    );
    expect(crossing).toEqual([]);
  });

  test("packages reach one another by name", () => {
    const reaching = SOURCES.flatMap((file) => {
      const home = file.path.split("/").slice(0, 2).join("/");
      return imports(file)
        .filter((specifier) => specifier.startsWith(".") && !`${target(file.path, specifier)}/`.startsWith(`${home}/`))
        .map((specifier) => `${file.path}: ${specifier}`);
    });
    expect(reaching).toEqual([]);
  });

  test("two files read the environment", () => {
    const readers = SOURCES.filter(({ text }) =>
      /\bprocess\s*\.\s*env\b|\bprocess\s*\[|from "node:process"/.test(text),
    );
    const allowed = ["packages/attestd/src/environment.ts", "packages/service/src/config/config.ts"];
    expect(readers.map(({ path }) => path).filter((path) => !allowed.includes(path))).toEqual([]);
  });

  test("inside the service every arrow points down", () => {
    const FLOORS = [
      ["operator"],
      ["http", "mcp", "a2a"],
      ["endpoints", "documents", "verification", "audit"],
      ["journal"],
      ["calls", "networks"],
      ["payment", "subjects"],
      ["attestor", "chains", "ledger"],
      ["providers"],
      // The table of endpoints describes what the floors above do, and needs none of them.
      ["catalogue", "config", "crypto", "workers"],
    ];
    const floorOf = (path: string) => {
      const folder = path.match(/^packages\/service\/src\/([^/]+)\//)?.[1];
      return folder === undefined ? undefined : FLOORS.findIndex((floor) => floor.includes(folder));
    };
    const upward = inPackage("service").flatMap((file) => {
      const from = floorOf(file.path);
      if (from === undefined) return [];
      return imports(file)
        .filter((specifier) => specifier.startsWith("."))
        .filter((specifier) => (floorOf(target(file.path, specifier)) ?? from) < from)
        .map((specifier) => `${file.path}: ${specifier}`);
    });
    expect(upward).toEqual([]);
    expect(inPackage("service").filter(({ path }) => floorOf(path) === -1)).toEqual([]);
  });

  test("no door knows another one", () => {
    const DOORS = ["http", "mcp", "a2a"];
    const doorOf = (path: string) => {
      const folder = path.match(/^packages\/service\/src\/([^/]+)\//)?.[1] ?? "";
      return DOORS.includes(folder) ? folder : undefined;
    };
    const sideways = inPackage("service").flatMap((file) => {
      const from = doorOf(file.path);
      if (from === undefined) return [];
      return imports(file)
        .filter((specifier) => specifier.startsWith("."))
        .filter((specifier) => (doorOf(target(file.path, specifier)) ?? from) !== from)
        .map((specifier) => `${file.path}: ${specifier}`);
    });
    expect(sideways).toEqual([]);
  });

  test("a route touches no journal, chain, ledger or provider", () => {
    const doors = inPackage("service").filter(({ path }) =>
      /^packages\/service\/src\/(http|mcp|a2a|documents)\//.test(path),
    );
    const touching = doors.flatMap((file) =>
      imports(file)
        .filter((specifier) => /\/(journal|chains|ledger|providers|rails|attestor)(\/|\.ts)/.test(specifier))
        .map((specifier) => `${file.path}: ${specifier}`),
    );
    expect(touching).toEqual([]);
  });
});

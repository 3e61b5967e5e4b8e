import { once } from "node:events";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { testBundle, testHistory } from "../bundles/bundles.ts";
import { launchChromium } from "../web/chromium.ts";
import { startDeployment } from "./deployment.ts";
import { type FreshClone, freshClone, linkInstalled, ROOT, run } from "./fresh-clone.ts";

/* The packages as users get them: packed in a fresh clone, installed in an empty folder, run in Node and in Chromium. */

/** The limit in the README of `proof`: its whole root entry, minified and gzipped. */
const MAX_PROOF_SIZE = 60 * 1024;
const PUBLISHED = ["proof", "client"] as const;

let clone: FreshClone;
/** A user's project, with only the files that npm installs there. */
let project: string;
let installing: Promise<void>;

beforeAll(async () => {
  clone = await freshClone();
  const { folder, workspace } = clone;
  const workspaces = PUBLISHED.flatMap((name) => ["-w", `packages/${name}`]);
  await run(workspace, "npm", "pack", ...workspaces, "--pack-destination", folder);
  project = join(folder, "project");
  await mkdir(project);
  await writeFile(join(project, "package.json"), JSON.stringify({ type: "module", private: true }));
  await writeFile(join(project, "bundle.json"), JSON.stringify(testBundle()));
  await writeFile(join(project, "keys.json"), JSON.stringify(testHistory()));
  // Only the tests that need it wait for it.
  installing = install();
  installing.catch(() => undefined);
});
afterAll(async () => {
  await installing.catch(() => undefined);
  await clone[Symbol.asyncDispose]();
});

const tarball = (name: string) => join(clone.folder, `attestd-${name}-0.1.0.tgz`);

/** Installs like a user; if no registry answers, beside the packages that are installed here, which it prints. */
async function install(): Promise<void> {
  const flags = ["--prefer-offline", "--no-audit", "--no-fund", "--ignore-scripts", "--fetch-retries=0"];
  try {
    await run(project, "npm", "install", ...flags, ...PUBLISHED.map(tarball));
  } catch (error) {
    const [why] = /E(NOTFOUND|AI_AGAIN|CONNREFUSED|CONNRESET|NETUNREACH|TIMEDOUT|NOTCACHED)/.exec(String(error)) ?? [];
    if (why === undefined) throw error;
    console.log(`npm has no registry here (${why}): the packages are tested beside what is installed already`);
    await linkInstalled(join(project, "node_modules"), ["@attestd"]);
    for (const name of PUBLISHED) {
      const home = join(project, "node_modules/@attestd", name);
      await mkdir(home, { recursive: true });
      await run(home, "tar", "-xzf", tarball(name), "--strip-components=1");
    }
  }
}

describe("npm pack", () => {
  test("does not change the workspace", () => {
    for (const name of ["proof", "client"]) {
      const manifest = (root: string) => readFileSync(join(root, "packages", name, "package.json"), "utf8");
      expect(manifest(clone.workspace)).toBe(manifest(ROOT));
      expect(JSON.parse(manifest(ROOT)).exports["."], `run: npm run postpack -w packages/${name}`).toBe(
        "./src/index.ts",
      );
    }
  });

  test("leaves a working workspace when it is stopped half-way, and restores it the next time", async () => {
    const home = join(clone.workspace, "packages/proof");
    const manifest = readFileSync(join(home, "package.json"), "utf8");
    await run(home, "node", "../../build/pack.mjs", "prepare");
    expect(readFileSync(join(home, "package.json"), "utf8")).not.toBe(manifest);
    const program = 'import("@attestd/proof").then(({ verify }) => console.log(typeof verify))';
    expect(await run(clone.workspace, "node", "--eval", program)).toBe("function\n");

    const answer = await run(clone.workspace, "npm", "pack", "-w", "packages/proof", "--dry-run", "--json");
    expect(answer).toContain("dist/index.js");
    expect(readFileSync(join(home, "package.json"), "utf8")).toBe(manifest);
    expect(existsSync(join(home, "package.json.workspace"))).toBe(false);
  });
});

describe("the published proof", () => {
  beforeAll(() => installing);
  const installed = () => join(project, "node_modules/@attestd/proof");
  const filesOf = (folder: string) => readdirSync(folder, { recursive: true, encoding: "utf8" });

  test("contains compiled modules with their types, and no file of the workspace", () => {
    const manifest = JSON.parse(readFileSync(join(installed(), "package.json"), "utf8"));
    expect(manifest).not.toHaveProperty("devDependencies");
    expect(manifest).toMatchObject({ type: "module", sideEffects: false, license: "Apache-2.0" });
    expect(manifest.exports["."]).toEqual({ types: "./dist/index.d.ts", default: "./dist/index.js" });
    expect(readdirSync(installed()).sort()).toEqual(["LICENSE", "README.md", "dist", "package.json"]);
    const modules = filesOf(join(installed(), "dist")).filter((path) => /\.\w+$/.test(path));
    const texts = modules.map((path) => readFileSync(join(installed(), "dist", path), "utf8"));
    expect(texts.filter((text) => /["']\.[^"']*\.ts["']/.test(text))).toEqual([]);
    expect(modules.filter((path) => !/^[\w/-]+(\.d\.ts|\.js)$/.test(path))).toEqual([]);
  });

  test("imports only its own modules and noble's, so that it needs no Node", () => {
    const modules = filesOf(join(installed(), "dist")).filter((path) => path.endsWith(".js"));
    const named = modules.flatMap((path) => {
      const text = readFileSync(join(installed(), "dist", path), "utf8");
      return [...text.matchAll(/\b(?:from|import)[ (]"([^"\s]+)"/g)].map(([, specifier]) => specifier ?? "");
    });
    expect(named.length).toBeGreaterThan(20);
    expect(named.filter((specifier) => !/^(\.\.?\/|@noble\/)/.test(specifier))).toEqual([]);
  });

  test("verifies a bundle in Node", async () => {
    const program = `
      import { readFileSync } from "node:fs";
      import { parseJson, parseKeyHistory, verify } from "@attestd/proof";
      import { decodeMsgpack } from "@attestd/proof/algorand";
      const trust = parseKeyHistory(parseJson(readFileSync("keys.json")));
      console.log(verify(readFileSync("bundle.json"), { trust }).verified, typeof decodeMsgpack);`;
    await writeFile(join(project, "verify.js"), program);
    expect(await run(project, "node", "verify.js")).toBe("true function\n");
  });

  test.each([
    ["nodenext", ["--module", "nodenext"]],
    ["bundler", ["--module", "esnext", "--moduleResolution", "bundler"]],
  ])("has types that TypeScript reads, by %s", async (name, flags) => {
    const program = `
      import { type VerifyReport, verify } from "@attestd/proof";
      export const report: VerifyReport = verify("", { trust: { kids: [] } });
      // @ts-expect-error: an option that does not exist
      verify("", { trusted: [] });`;
    await writeFile(join(project, `${name}.ts`), program);
    await run(project, "tsc", "--noEmit", "--strict", "--target", "es2022", "--types", "", ...flags, `${name}.ts`);
  });

  test("is small in a browser, and smaller for a single function", async () => {
    const whole = await bundled('export * from "@attestd/proof";');
    const part = await bundled('export { parseJson } from "@attestd/proof";');
    const [size, partSize] = [whole, part].map((code) => gzipSync(code, { level: 9 }).length) as [number, number];
    console.log(`@attestd/proof in a browser, gzipped: all of it ${size} bytes, parseJson alone ${partSize}`);
    expect(size).toBeLessThanOrEqual(MAX_PROOF_SIZE);
    expect(partSize).toBeLessThan(size / 10);
    // What verifies state proofs is loaded apart.
    expect(whole).not.toContain("FALCON_DET");
    expect(await bundled('export * from "@attestd/proof/evidence";')).toContain("FALCON_DET");
  });

  test("verifies a bundle in Chromium", async () => {
    const script = await bundled(`
      import { parseJson, parseKeyHistory, verify } from "@attestd/proof";
      const read = async (file) => parseJson(await (await fetch(file)).text());
      const trust = parseKeyHistory(await read("keys.json"));
      globalThis.report = verify(await read("bundle.json"), { trust });`);
    await using site = await serve({
      "/": ["text/html", '<!doctype html><script type="module" src="script.js"></script>'],
      "/script.js": ["text/javascript", script],
      "/bundle.json": ["application/json", await readFile(join(project, "bundle.json"), "utf8")],
      "/keys.json": ["application/json", await readFile(join(project, "keys.json"), "utf8")],
    });
    const browser = await launchChromium();
    try {
      const page = await browser.newPage();
      await page.goto(site.url);
      const report = await page.waitForFunction("globalThis.report");
      expect(await report.jsonValue()).toMatchObject({ verified: true, failures: [] });
    } finally {
      await browser.close();
    }
  });

  /** One minified script for browsers, built from the project's packages. */
  async function bundled(code: string): Promise<string> {
    const { outputFiles } = await build({
      stdin: { contents: code, resolveDir: project },
      bundle: true,
      minify: true,
      format: "esm",
      platform: "browser",
      target: "es2022",
      write: false,
      logLevel: "silent",
    });
    return outputFiles[0]?.text ?? "";
  }
});

describe("the published client", () => {
  beforeAll(async () => {
    await installing;
    const readme = await readFile(join(project, "node_modules/@attestd/client/README.md"), "utf8");
    await writeFile(join(project, "buy.ts"), /```ts\n(.*?)```/s.exec(readme)?.[1] ?? "");
  });

  test("buys a bundle from a service on a sandbox and verifies it, with the code of its README", async () => {
    const deployment = await startDeployment({ networks: ["base"], roundMs: 500 });
    try {
      const { algodUrl, payers, sampleTransactions } = deployment.sandbox;
      const sandbox = { serviceUrl: deployment.url, algodUrl, payers, sampleTransactions };
      await mkdir(join(project, ".attestd"));
      await writeFile(join(project, ".attestd/sandbox.json"), JSON.stringify(sandbox));
      const keys = await (await fetch(`${deployment.url}/.well-known/attestor-keys.json`)).text();
      await writeFile(join(project, ".attestd/keys.json"), keys);
      const bought = () => JSON.parse(readFileSync(join(project, "bundle.json"), "utf8"));
      expect(await run(project, "node", "buy.ts")).toBe(`true ${bought().attest.round}\n`);
      expect(bought().source.txnId).toBe(sampleTransactions.base);
    } finally {
      await deployment.close();
    }
  });

  test("needs no Node at its root, so that a page can buy with it", async () => {
    const root = join(project, "node_modules/@attestd/client/dist/index.js");
    const { metafile } = await build({
      entryPoints: [root],
      bundle: true,
      packages: "external",
      write: false,
      metafile: true,
      format: "esm",
    });
    const named = Object.values(metafile.inputs).flatMap(({ imports }) => imports.map(({ path }) => path));
    expect(named).toContain("@attestd/proof");
    expect(named.filter((path) => path.startsWith("node:"))).toEqual([]);
  });

  test("has types that TypeScript reads", async () => {
    const program = `
      import { type Attestation, attest, AttestError, type Wallet } from "@attestd/client";
      import { type FileVault, fileVault } from "@attestd/client/file-vault";
      export const buy = attest satisfies (options: never) => Promise<Attestation>;
      export const vault: FileVault = fileVault("/tmp");
      export type { AttestError, Wallet };`;
    await writeFile(join(project, "types.ts"), program);
    const flags = ["--strict", "--target", "es2022", "--module", "nodenext", "--types", "node"];
    await run(
      project,
      "tsc",
      "--noEmit",
      ...flags,
      "--typeRoots",
      join(ROOT, "node_modules/@types"),
      "types.ts",
      "buy.ts",
    );
  });
});

async function serve(files: Record<string, [type: string, body: string]>): Promise<{ url: string } & AsyncDisposable> {
  const server = createServer(({ url = "" }, response) => {
    const [type, body] = files[url] ?? ["text/plain", ""];
    response.writeHead(files[url] ? 200 : 404, { "content-type": type }).end(body);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

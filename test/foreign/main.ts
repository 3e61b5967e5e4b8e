// Buys with clients that are not ours, and tests the served contract with schemathesis: `npm run test:foreign`.
// It needs Python 3.11 or newer, Rust and Go; what is installed stays in test/foreign/.cache.
import { execFileSync, spawn } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { text } from "node:stream/consumers";
import { parseArgs } from "node:util";
import { attestdProcess, type Running, start } from "../helpers/command.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";
import { BUYERS, type Buyer, EXAMPLES, type Example, FOLDER, SCHEMATHESIS } from "./clients.ts";

const { values: options } = parseArgs({ options: { examples: { type: "string", default: "100" } } });
const CACHE = join(FOLDER, ".cache");
const DOCUMENT = join(FOLDER, "../../docs/measured/foreign-buyers.md");

/** What a sample of the contract prints, by operation. Those in other languages run in test/e2e/documents.test.ts. */
const SAMPLES: Readonly<Record<string, string>> = {
  "post /verify": '"verified":true',
  "post /attest": '"x402Version":2',
  "get /problems/{code}": '"advice":',
};

mkdirSync(CACHE, { recursive: true });
await using folder = await temporaryFolder();
const sandbox = start(["sandbox", "--port", "0"], { cwd: folder.path });
try {
  const sandboxFile = join(folder.path, ".attestd", "sandbox.json");
  const keysFile = join(folder.path, ".attestd", "keys.json");
  await listening(sandbox);
  const { serviceUrl, sampleTransactions } = JSON.parse(readFileSync(sandboxFile, "utf8"));

  const lines: string[] = [];
  let bought: object | undefined;
  for (const buyer of BUYERS) {
    const result = await buy(buyer, sandboxFile, sampleTransactions[buyer.rail === "algorand" ? "algorand" : "base"]);
    await judge(buyer, result, result.receipt?.success === true);
  }
  for (const example of EXAMPLES) {
    const result = await buyByExample(example);
    await judge(example, result, result.bundle !== undefined);
  }

  async function judge(
    { package: name, registry, over, rail }: Pick<Buyer, "package" | "over" | "rail"> & { registry: string },
    { bundle, error }: Purchase,
    isPaid: boolean,
  ): Promise<void> {
    const { code, stdout } = await verified(bundle, keysFile, serviceUrl);
    const outcome = code === 0 && isPaid ? "delivered and verified" : `FAILED: ${error ?? stdout}`;
    if (code !== 0 || !isPaid) process.exitCode = 1;
    else bought = bundle;
    lines.push(`| ${name} | ${registry} | ${over} | ${rail} | ${outcome} |`);
    console.log(lines.at(-1));
  }

  const samples = await runSamples(serviceUrl, bought);
  console.log(`samples of the contract in Go: ${samples.join(", ")}`);
  const contract = await testContract(serviceUrl);
  if (contract.code !== 0) process.exitCode = 1;
  console.log(contract.summary.join("\n"));
  if (process.exitCode === undefined) writeFileSync(DOCUMENT, documentOf(lines, samples, contract.summary));
} finally {
  sandbox.kill("SIGINT");
  await sandbox.ended;
}

/** Resolves once the sandbox has written that it listens. */
async function listening({ stdout, ended }: Running): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  stdout.on("data", (chunk) => String(chunk).includes("listening") && resolve());
  await Promise.race([
    promise,
    ended.then(({ stderr }) => {
      throw new Error(`the sandbox ended: ${stderr}`);
    }),
  ]);
}

type Purchase = { bundle?: object; receipt?: { success?: boolean }; error?: string };

async function buy(buyer: Buyer, sandboxFile: string, txid: string): Promise<Purchase> {
  const args = [sandboxFile, txid, ...(buyer.args ?? [])];
  const { installation, requirements, program } = buyer;
  const { code, stdout, stderr } = requirements
    ? await run(install(installation, requirements, "python"), [
        "-W",
        "ignore",
        join(FOLDER, "python", program),
        ...args,
      ])
    : await run(build(program), args);
  return code === 0 ? JSON.parse(stdout) : { error: stderr.trim().split("\n").at(-1) ?? "" };
}

/** Runs a program of docs/examples, which prints the bundle, as its first lines say. */
async function buyByExample({ program, installation, requirements }: Example): Promise<Purchase> {
  const source = join(FOLDER, "../../docs/examples", program);
  const { code, stdout, stderr } = program.endsWith(".go")
    ? await run(buildGo(source, installation, requirements), [])
    : await run(install(installation, requirements, "python"), ["-W", "ignore", source]);
  return code === 0 ? { bundle: JSON.parse(stdout) } : { error: stderr.trim().split("\n").at(-1) ?? "" };
}

/** @returns the path of the program */
function buildGo(source: string, name: string, requirements: readonly string[]): string {
  const cwd = join(CACHE, name);
  mkdirSync(cwd, { recursive: true });
  copyFileSync(source, join(cwd, basename(source)));
  const go = (...args: string[]) => execFileSync("go", args, { cwd, stdio: ["ignore", "ignore", "inherit"] });
  if (!existsSync(join(cwd, "go.mod"))) go("mod", "init", name);
  go("get", ...requirements);
  go("build", "-o", name, ".");
  return join(cwd, name);
}

/** Runs the contract's samples in Go. @returns the operations that they called */
async function runSamples(serviceUrl: string, bundle: object | undefined): Promise<string[]> {
  const { paths } = (await (await fetch(`${serviceUrl}/openapi.json`)).json()) as Contract;
  writeFileSync(join(folder.path, "bundle.json"), JSON.stringify(bundle));
  for (const [operation, expected] of Object.entries(SAMPLES)) {
    const [method = "", path = ""] = operation.split(" ");
    const sample = paths[path]?.[method]?.["x-codeSamples"].find(({ label }) => label === "Go");
    const source = join(folder.path, "sample.go");
    writeFileSync(source, sample?.source ?? "");
    const { stdout, stderr } = await run("go", ["run", source]);
    if (stdout.includes(expected)) continue;
    console.error(`the sample of ${operation} printed ${stdout}${stderr}`);
    process.exitCode = 1;
  }
  return Object.keys(SAMPLES);
}

type Contract = {
  paths: Record<string, Record<string, { "x-codeSamples": { label: string; source: string }[] }>>;
};

/** Checks the bundle with the sandbox's keys, and asks its chains. */
function verified(bundle: object | undefined, keysFile: string, serviceUrl: string) {
  const input = JSON.stringify(bundle ?? null);
  return attestdProcess(["verify", "-", "--keys", keysFile, "--chain", "--service", serviceUrl], {
    cwd: folder.path,
    input,
  });
}

/** Runs every check of schemathesis on the contract that the service serves. */
async function testContract(serviceUrl: string): Promise<{ code: number | null; summary: string[] }> {
  const program = install(SCHEMATHESIS.installation, SCHEMATHESIS.requirements, "schemathesis");
  const config = ["--config-file", join(FOLDER, "schemathesis.toml")];
  const limits = ["--checks", "all", "--max-examples", options.examples];
  const { code, stdout } = await run(program, [...config, "run", `${serviceUrl}/openapi.json`, ...limits]);
  const from = stdout.indexOf("= SUMMARY =");
  const summary = (from === -1 ? stdout : stdout.slice(from)).split("\n").slice(1);
  if (code !== 0) console.error(stdout);
  return { code, summary: summary.filter((line) => /Selected|Tested|Examples|Coverage|Fuzzing|generated/.test(line)) };
}

/** Installs Python packages once, in a virtual environment of their own. @returns the path of a program in it */
function install(name: string, requirements: readonly string[], program: string): string {
  const bin = join(CACHE, name, "bin");
  const done = join(CACHE, name, "installed.txt");
  const wanted = requirements.join("\n");
  if (!existsSync(done) || readFileSync(done, "utf8") !== wanted) {
    execFileSync("python3", ["-m", "venv", join(CACHE, name)], { stdio: "inherit" });
    execFileSync(join(bin, "pip"), ["install", "--quiet", ...requirements], { stdio: "inherit" });
    writeFileSync(done, wanted);
  }
  return join(bin, program);
}

/** Builds the Rust buyer. @returns the path of its program */
function build(program: string): string {
  const target = join(CACHE, "rust");
  const manifest = join(FOLDER, "rust", "Cargo.toml");
  execFileSync("cargo", ["build", "--quiet", "--manifest-path", manifest, "--target-dir", target], {
    stdio: "inherit",
  });
  return join(target, "debug", program);
}

/** Runs a program to its end, for five minutes at most. */
async function run(program: string, args: readonly string[]) {
  const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"], timeout: 300_000, cwd: folder.path });
  const code = new Promise<number | null>((resolve) => child.on("close", resolve));
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return { code: await code, stdout, stderr };
}

function documentOf(lines: readonly string[], samples: readonly string[], summary: readonly string[]): string {
  const revision = execFileSync("git", ["rev-parse", "--short", "HEAD"], { cwd: FOLDER, encoding: "utf8" }).trim();
  return `# Clients that are not ours

Written by \`npm run test:foreign\` on ${new Date().toISOString().slice(0, 10)}, revision ${revision}. Each client below
bought one attestation from a sandbox; the bundle was then verified with the sandbox's keys and its chains. The programs are
in test/foreign: each is the package's own documentation applied, and may be copied.

| Client | Registry | Over | Rail | Outcome |
| --- | --- | --- | --- | --- |
${lines.join("\n")}

- x402-avm for Python names a network by its whole genesis hash, and buys with the policy in
  test/foreign/python/buy_x402_avm.py.
- No x402 client for Go: the modules that the x402 projects publish are not on the module proxy that this was run with. The
  example signs with go-ethereum.

The samples of the contract in Go ran, too: ${samples.map((one) => `\`${one}\``).join(", ")}.

[schemathesis](https://schemathesis.readthedocs.io) 4.32.5, all checks, over \`/openapi.json\` of the same service
(test/foreign/schemathesis.toml counts 402 and, for a false bundle, 400 as answers to a valid request):

\`\`\`
${summary.join("\n")}
\`\`\`
`;
}

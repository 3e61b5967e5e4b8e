/**
 * Compiles the sandbox's contracts. Run after changing a `.sol` file, and commit what it writes:
 *
 *     node packages/sandbox/token/compile.ts
 *
 * Needs the development dependencies `solc` and `@openzeppelin/contracts`; the sandbox itself reads only the JSON.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";

interface SolcOutput {
  errors?: { severity: string; formattedMessage: string }[];
  contracts: Record<string, Record<string, { abi: unknown[]; evm: { bytecode: { object: string } } }>>;
}

export const CONTRACTS = ["SandboxUSDC", "Multicall3"] as const;

/**
 * Compiles a contract of this folder.
 * @returns the compiler's full version, e.g. `0.8.37+commit.…`, and the creation code, `0x` hex: constructor arguments are
 * appended to it, ABI-encoded
 * @throws Error with solc's messages when it does not compile
 */
export function compile(name: (typeof CONTRACTS)[number]) {
  const require = createRequire(import.meta.url);
  const solc = require("solc") as {
    compile(input: string, callbacks: { import(path: string): { contents: string } }): string;
    version(): string;
  };
  const file = `${name}.sol`;
  const input = {
    language: "Solidity",
    sources: { [file]: { content: readFileSync(new URL(file, import.meta.url), "utf8") } },
    settings: {
      // Cancun is the oldest fork that OpenZeppelin 5.7 builds for (mcopy), so the code runs on every later one.
      evmVersion: "cancun",
      optimizer: { enabled: true, runs: 200 },
      // Without the metadata hash the code does not depend on comments and paths of the sources.
      metadata: { bytecodeHash: "none", appendCBOR: false },
      outputSelection: { "*": { "*": ["abi", "evm.bytecode.object"] } },
    },
  };
  const readImport = (path: string) => ({ contents: readFileSync(require.resolve(path), "utf8") });
  const output: SolcOutput = JSON.parse(solc.compile(JSON.stringify(input), { import: readImport }));
  const errors = (output.errors ?? []).filter(({ severity }) => severity === "error");
  const contract = output.contracts[file]?.[name];
  if (errors.length > 0 || !contract) throw new Error(errors.map((error) => error.formattedMessage).join("\n"));
  return { compiler: solc.version(), abi: contract.abi, bytecode: `0x${contract.evm.bytecode.object}` };
}

/** The text of a committed `*.compiled.json`: deterministic, so that a test can compare it. */
export function serialize(contract: ReturnType<typeof compile>): string {
  return `${JSON.stringify(contract, null, 2)}\n`;
}

if (import.meta.main) {
  for (const name of CONTRACTS)
    writeFileSync(new URL(`${name}.compiled.json`, import.meta.url), serialize(compile(name)));
}

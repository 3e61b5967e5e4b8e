/**
 * Compiles the sandbox's contracts. Run after changing a `.sol` file, and commit what it writes:
 *
 *     node packages/sandbox/token/compile.ts
 *
 * Needs the development dependencies `solc` and `@openzeppelin/contracts`; the sandbox itself reads only the JSON.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";

/** One committed `*.compiled.json`. */
export interface CompiledContract {
  /** The compiler's full version, e.g. `0.8.37+commit.…`. */
  compiler: string;
  abi: unknown[];
  /** Creation code, `0x` hex: constructor arguments are appended to it, ABI-encoded. */
  bytecode: string;
}

interface SolcOutput {
  errors?: { severity: string; formattedMessage: string }[];
  contracts: Record<string, Record<string, { abi: unknown[]; evm: { bytecode: { object: string } } }>>;
}

export const CONTRACTS = ["SandboxUSDC", "Multicall3"] as const;

/** Compiles every contract of this folder from source. Throws with solc's own words when one does not compile. */
export function compile(): Record<(typeof CONTRACTS)[number], CompiledContract> {
  const require = createRequire(import.meta.url);
  const solc = require("solc") as {
    compile(input: string, callbacks: { import(path: string): { contents: string } }): string;
    version(): string;
  };
  const input = {
    language: "Solidity",
    sources: Object.fromEntries(
      CONTRACTS.map((name) => [
        `${name}.sol`,
        { content: readFileSync(new URL(`${name}.sol`, import.meta.url), "utf8") },
      ]),
    ),
    settings: {
      // Cancun is the oldest fork that OpenZeppelin 5.7 builds for (mcopy), so the code runs on every later one.
      evmVersion: "cancun",
      optimizer: { enabled: true, runs: 200 },
      // Without the metadata hash the code depends on the sources' meaning alone, not on their comments and paths.
      metadata: { bytecodeHash: "none", appendCBOR: false },
      outputSelection: { "*": { "*": ["abi", "evm.bytecode.object"] } },
    },
  };
  const output = JSON.parse(
    solc.compile(JSON.stringify(input), {
      import: (path) => ({ contents: readFileSync(require.resolve(path), "utf8") }),
    }),
  ) as SolcOutput;
  const errors = (output.errors ?? []).filter((error) => error.severity === "error");
  if (errors.length > 0) throw new Error(errors.map((error) => error.formattedMessage).join("\n"));

  const compiled = (name: string): CompiledContract => {
    const contract = output.contracts[`${name}.sol`]?.[name];
    if (!contract) throw new Error(`solc gave no contract ${name}`);
    return { compiler: solc.version(), abi: contract.abi, bytecode: `0x${contract.evm.bytecode.object}` };
  };
  return { SandboxUSDC: compiled("SandboxUSDC"), Multicall3: compiled("Multicall3") };
}

/** The text of a committed file: deterministic, so that a test can compare it. */
export function serialize(contract: CompiledContract): string {
  return `${JSON.stringify(contract, null, 2)}\n`;
}

if (import.meta.main) {
  for (const [name, contract] of Object.entries(compile())) {
    writeFileSync(new URL(`${name}.compiled.json`, import.meta.url), serialize(contract));
  }
}

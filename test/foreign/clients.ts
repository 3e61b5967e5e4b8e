import { fileURLToPath } from "node:url";

/** A buyer that is not ours: how it is installed, and the command that buys with it. */
export type Buyer = {
  /** Package and version, as a reader would install it. */
  package: string;
  registry: "PyPI" | "Cargo";
  /** What it buys over, and on which rail. */
  over: "HTTP" | "MCP" | "A2A";
  rail: "algorand" | "base" | "solana";
  /** A folder for what is installed; buyers that share an installation name the same one. */
  installation: string;
  /** Python: the requirements, pinned. Rust has its own manifest. */
  requirements?: readonly string[];
  /** Program and arguments after SANDBOX_JSON and TXID. */
  program: string;
  args?: readonly string[];
};

/** The folder of this file. */
export const FOLDER = fileURLToPath(new URL(".", import.meta.url));

const X402_EVM = "x402[evm]==2.25.0";
const X402 = ["x402[evm,svm,requests]==2.25.0"];
const python = { registry: "PyPI" } as const;
const rust = { registry: "Cargo", over: "HTTP", installation: "rust", program: "buyer" } as const;

/** Every foreign buyer, in the order of the table. */
export const BUYERS: readonly Buyer[] = [
  {
    ...python,
    package: "x402 2.25.0",
    over: "HTTP",
    rail: "base",
    installation: "x402",
    requirements: X402,
    program: "buy_x402.py",
    args: ["base"],
  },
  {
    ...python,
    package: "x402 2.25.0",
    over: "HTTP",
    rail: "solana",
    installation: "x402",
    requirements: X402,
    program: "buy_x402.py",
    args: ["solana"],
  },
  {
    ...python,
    package: "x402-avm 2.0.2",
    over: "HTTP",
    rail: "algorand",
    installation: "x402-avm",
    requirements: ["x402-avm[avm,requests]==2.0.2"],
    program: "buy_x402_avm.py",
  },
  { ...rust, package: "x402-reqwest 2.0.2, x402-chain-eip155 2.0.2", rail: "base", args: ["base"] },
  { ...rust, package: "x402-reqwest 2.0.2, x402-chain-solana 2.0.2", rail: "solana", args: ["solana"] },
  {
    ...python,
    package: "mcp 2.3.0",
    over: "MCP",
    rail: "base",
    installation: "mcp",
    requirements: ["mcp==2.3.0", X402_EVM],
    program: "buy_mcp.py",
    args: ["mcp"],
  },
  {
    ...python,
    package: "fastmcp 4.1.0",
    over: "MCP",
    rail: "base",
    installation: "fastmcp",
    requirements: ["fastmcp==4.1.0", X402_EVM],
    program: "buy_mcp.py",
    args: ["fastmcp"],
  },
  {
    ...python,
    package: "a2a-sdk 1.3.0",
    over: "A2A",
    rail: "base",
    installation: "a2a-sdk",
    requirements: ["a2a-sdk==1.3.0", X402_EVM],
    program: "buy_a2a.py",
  },
];

/** A program of docs/examples. */
export type Example = Pick<Buyer, "package" | "over" | "rail" | "installation" | "program"> & {
  registry: string;
  requirements: readonly string[];
};

export const EXAMPLES: readonly Example[] = [
  {
    package: "docs/examples/buy.py",
    registry: "PyPI",
    over: "HTTP",
    rail: "base",
    installation: "x402",
    requirements: X402,
    program: "buy.py",
  },
  {
    package: "docs/examples/buy.go",
    registry: "Go",
    over: "HTTP",
    rail: "base",
    installation: "go-buyer",
    requirements: ["github.com/ethereum/go-ethereum@v1.17.10"],
    program: "buy.go",
  },
];

/** The tester of the OpenAPI contract. */
export const SCHEMATHESIS = { installation: "schemathesis", requirements: ["schemathesis==4.32.5"] } as const;

/** Parts of a folder, each with what it holds, by floor. */
export type Floors = readonly Readonly<Record<string, string>>[];

/**
 * The floors of packages/service/src, top first: a folder or a file, without its extension, imports from its own floor and
 * from those below. Each has one line that says what it holds: `structure.ts` draws docs/architecture.md from them.
 */
export const FLOORS: Floors = [
  { main: "starts and ends the process" },
  { operator: "the operator's commands over one session: audit, adopt, refund, keys, backup; doctor/" },
  { service: "assembles what sells" },
  { "api/app": "the routes", "api/monitoring": "counts what the floors below do; the operator's listener" },
  { "api/http": "HTTP", "api/mcp": "MCP", "api/a2a": "A2A: no transport imports another one" },
  {
    "api/endpoints": "what each endpoint does, its arguments, the transports' common types",
    "api/documents": "OpenAPI, discovery, manifests, agents' cards, llms.txt: drawn from the catalogue",
    audit: "compares the journal with the chains",
    verification: "verifies a bundle, offline and with the chains, in workers",
  },
  { journal: "sqlite/ and postgres/ behind the contract that `calls` states" },
  {
    calls: "a paid call: admission, state machine, runner, leases; the journal's contract",
    networks: "the clients of the configured nodes, built once",
  },
  {
    payment: "offers, facilitators, receipts",
    subjects: "what is attested: a transaction, a block, an inclusion, a batch",
  },
  { catalogue: "the table of endpoints with their schemas, which chains and rails are part of" },
  { "payment/rails": "the ways to pay: a folder a rail, a line in the registry" },
  { attestor: "the keys and their history, which counts once the ledger has it" },
  { ledger: "the attestor's account, submission, the one reader of rounds, evidence, checkpoints" },
  { signers: "where the attestor's keys are: a file or folder a kind" },
  { chains: "the source chains: a folder a chain, a line in the registry" },
  { health: "the table of checks: what refuses calls, and what is degraded" },
  { providers: "upstream nodes: quorum, failover, deadlines, breakers, JSON-RPC" },
  {
    config: "every setting, read once",
    observe: "metrics, log lines, traces",
    lib: "clock, errors and problems, cryptography, workers, files",
  },
];
/** The floors of packages/attestd/src, likewise. */
export const COMMAND_FLOORS: Floors = [
  { main: "the process: output that cannot be written, the cache of compiled code, the exit code" },
  { program: "the list of commands; runs a command line, prints help" },
  { commands: "a folder a command; a family of commands (attest, checkpoints, keys, backup) has one together" },
  { operator: "the settings of a service, and running an operation of the service on them" },
  { trust: "checks files: keys, checkpoints, evidence, chains; the words of a verdict" },
  { files: "reads and writes files, locks, sources (files, folders, URLs, standard input)" },
  {
    command: "how a command declares its arguments and options, with the types that follow",
    options: "options of several commands, and the parsers of values",
  },
  {
    terminal: "streams, colours, the live line, the log for people",
    failure: "exit codes, and the error that ends a command",
  },
];

import { randomBytes } from "node:crypto";
import type { Facilitator, Sandbox } from "@attestd/sandbox";
import { writeWhole } from "./files.ts";
import type { SandboxFolder } from "./sandbox-folder.ts";
import type { Settings } from "./settings-file.ts";

/**
 * The service's settings in a sandbox, as an operator would write them, with a new key of the attestor unless there is one.
 *
 * @param address that the service listens on; port 0 picks a free one
 * @param before the settings of the same sandbox's last start: its seed, and what was added by hand, are kept
 */
export function newServiceSettings(
  networks: Sandbox,
  folder: SandboxFolder,
  address: { host: string; port: number },
  before: Settings = {},
): Settings {
  const { payTo, facilitators } = networks;
  return {
    ...childVariables(before),
    HOST: address.host,
    PORT: String(address.port),
    DATABASE_URL: `sqlite:${folder.journal}`,
    CHECKPOINT_TABLE: folder.checkpoints,
    ALGOD_URL: networks.algodUrl,
    INDEXER_URL: networks.indexerUrl,
    BASE_RPC_URL: networks.baseRpcUrl,
    SOLANA_RPC_URL: networks.solanaRpcUrl,
    ALGORAND_GENESIS_HASH: networks.genesisHash,
    ATTESTOR_MNEMONIC: networks.attestor.mnemonic,
    ...(seedSettings(before) ?? { ATTESTOR_PQ_SEED: randomBytes(32).toString("hex") }),
    PAY_TO_ALGORAND: payTo.algorand,
    PAY_TO_BASE: payTo.base,
    PAY_TO_SOLANA: payTo.solana,
    ...facilitatorSettings("FACILITATOR", facilitators.algorand),
    ...facilitatorSettings("BASE_FACILITATOR", facilitators.base),
    ...facilitatorSettings("SOLANA_FACILITATOR", facilitators.solana),
    SANDBOX_SOURCE_CHAINS: networks.sourceChains.join(",") || undefined,
  };
}

/** The setting with the attestor's seed, in the form that it has; undefined where there is none. */
export function seedSettings({ ATTESTOR_PQ_SEED: seed, ATTESTOR_PQ_SEED_FILE: file }: Settings): Settings | undefined {
  if (file) return { ATTESTOR_PQ_SEED_FILE: file };
  return seed ? { ATTESTOR_PQ_SEED: seed } : undefined;
}

function facilitatorSettings(prefix: string, facilitators: readonly Facilitator[] = []): Settings {
  const keys = facilitators.map(({ credentials }) => credentials[0]);
  if (facilitators.length === 0) return {};
  const url = facilitators.map(({ url }) => url).join();
  if (keys.every((key) => key === undefined)) return { [`${prefix}_URL`]: url };
  return {
    [`${prefix}_URL`]: url,
    [`${prefix}_KIND`]: facilitators.map(({ kind }, i) => (keys[i] ? kind : "none")).join(),
    [`${prefix}_KEY_ID`]: keys.map((key) => key?.keyId).join(),
    [`${prefix}_SECRET`]: keys.map((key) => key?.secret).join(),
  };
}

/** The settings above and those that would contradict them, which the sandbox sets for its service. */
const DECIDED_HERE =
  /^(HOST|PORT|PUBLIC_URL|MCP_URL|DATABASE_URL|CHECKPOINT_TABLE|(ALGOD|INDEXER)_(URL|TOKEN)|(BASE|SOLANA)_RPC_URL|ALGORAND_GENESIS_HASH|ATTESTOR_\w+|PAY_TO_\w+|\w*FACILITATOR_(URL|KIND|KEY_ID|SECRET|SECRET_FILE)|PROVIDER_QUORUM|SANDBOX_SOURCE_CHAINS)$/;

/** The environment for the sandbox's service: all other settings, such as a price or a log level, pass through. */
export function childVariables(variables: Readonly<Settings>): Settings {
  return Object.fromEntries(Object.entries(variables).filter(([name]) => !DECIDED_HERE.test(name)));
}

/** Writes the settings for `attestd serve --env`. They contain the sandbox's keys: mode 0600. */
export async function writeSettings(folder: SandboxFolder, settings: Settings): Promise<void> {
  const lines = Object.entries(settings).filter(([, value]) => value);
  await writeWhole(folder.settings, `${lines.map(([name, value]) => `${name}="${value}"`).join("\n")}\n`, 0o600);
}

import { randomBytes } from "node:crypto";
import type { Facilitator, Sandbox } from "@attestd/sandbox";
import { writeAtomically } from "../../files/files.ts";
import type { Settings } from "../../operator/settings.ts";
import type { SandboxFolder } from "../../trust/sandbox-folder.ts";

/**
 * Makes the service's settings in a sandbox, as an operator would write them, with a new key of the attestor unless there is one.
 *
 * @param address where the service listens; port 0 picks a free one
 * @param before the settings at the last start of the same sandbox: the seed and what was added by hand are kept
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

/** The setting with the attestor's seed: the seed itself or its file. @returns undefined without either */
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

/** The settings that the sandbox makes for its service, and those that would contradict them. */
const DECIDED_HERE =
  /^(HOST|PORT|PUBLIC_URL|MCP_URL|DATABASE_URL|CHECKPOINT_TABLE|(ALGOD|INDEXER)_(URL|TOKEN)|(BASE|SOLANA)_RPC_URL|ALGORAND_GENESIS_HASH|ATTESTOR_\w+|PAY_TO_\w+|\w*FACILITATOR_(URL|KIND|KEY_ID|SECRET|SECRET_FILE)|PROVIDER_QUORUM|SANDBOX_SOURCE_CHAINS)$/;

/** The variables that the sandbox passes on to its service: settings that it does not make itself, such as a price or a log level. */
export function childVariables(variables: Readonly<Settings>): Settings {
  return Object.fromEntries(Object.entries(variables).filter(([name]) => !DECIDED_HERE.test(name)));
}

/** Writes the settings for `attestd serve --env`. They contain the sandbox's keys: mode 0600. */
export async function writeSettings(folder: SandboxFolder, settings: Settings): Promise<void> {
  const lines = Object.entries(settings).filter(([, value]) => value);
  await writeAtomically(folder.settings, `${lines.map(([name, value]) => `${name}="${value}"`).join("\n")}\n`, 0o600);
}

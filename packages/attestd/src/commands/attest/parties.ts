import { join } from "node:path";
import { keyWallet, type Wallet, type WalletKeys } from "@attestd/client";
import { fileVault } from "@attestd/client/file-vault";
import { EXIT, Failure } from "../../failure.ts";
import { readJsonObject } from "../../files/files.ts";
import type { Environment } from "../../terminal/environment.ts";
import { readKeys, withKeysOf } from "../../trust/keys.ts";
import { runningSandbox, sandboxKeys } from "../../trust/sandbox-folder.ts";

/** Who takes part in a purchase: the service, the payer's wallet, the trusted keys, and where signed payments are kept. */
export type Parties = Awaited<ReturnType<typeof parties>>;

/** Finds the parties. The sandbox's wallet and keys are the defaults only for its own service: they are of no use elsewhere. */
export async function parties(
  options: { service?: string; wallet?: string; keys?: string },
  { stateFolder }: Environment,
) {
  const running = runningSandbox();
  const sandbox = options.service === undefined || options.service === running?.serviceUrl ? running : undefined;
  const service = options.service ?? sandbox?.serviceUrl;
  const walletFile = options.wallet ?? sandbox?.folder.description;
  if (service === undefined || walletFile === undefined) {
    const missing = [service === undefined && "--service URL", walletFile === undefined && "--wallet FILE"];
    throw new Failure(EXIT.usage, `${missing.filter(Boolean).join(" and ")} must be given`, [
      "No sandbox of yours runs in ./.attestd to take them from.",
      "Without --keys FILE the bundle will be saved with its signer unknown.",
    ]);
  }
  const wallet = await readWallet(walletFile);
  const trusted = options.keys === undefined ? sandbox && (await sandboxKeys()) : await readKeys(options.keys);
  return {
    service,
    wallet: trusted ? withKeysOf(service, trusted, wallet) : wallet,
    trusted,
    vault: fileVault(sandbox?.folder.payments ?? paymentsIn(stateFolder)),
    inSandbox: sandbox !== undefined,
  };
}

/** @throws Failure `usage` without a folder in which a payment could be stored before it is sent */
function paymentsIn(stateFolder: string | undefined): string {
  if (stateFolder !== undefined) return join(stateFolder, "payments");
  throw new Failure(EXIT.usage, "there is no folder for the signed payment", [
    "This user has no home folder: set HOME or XDG_STATE_HOME to an absolute path.",
  ]);
}

/** The members of each rail's key. */
const KEYS = {
  algorand: ["address", "mnemonic"],
  base: ["address", "privateKey"],
  solana: ["address", "secretKeyBase64"],
} as const;

/**
 * Reads a payer's keys (`payers`) and nodes (`algodUrl`, `solanaRpcUrl`) in the format of `sandbox.json`. Other members are
 * ignored. @throws Failure `unreadable`
 */
async function readWallet(path: string): Promise<Wallet> {
  const { payers, algodUrl, algodToken, solanaRpcUrl } = await readJsonObject(path);
  const keys: Record<string, Record<string, string>> = {};
  for (const [rail, members] of Object.entries(KEYS)) {
    const key = (payers as Record<string, Record<string, unknown>> | null | undefined)?.[rail];
    if (key === undefined) continue;
    for (const member of members) {
      if (typeof key?.[member] !== "string") throw notAWallet(path, `payers.${rail}.${member} is not a string.`);
    }
    keys[rail] = key as Record<string, string>;
  }
  if (Object.keys(keys).length === 0) throw notAWallet(path, "It has no payers: algorand, base or solana.");
  return keyWallet(keys as WalletKeys, {
    ...(typeof algodUrl === "string" && { algodUrl }),
    ...(typeof algodToken === "string" && { algodToken }),
    ...(typeof solanaRpcUrl === "string" && { solanaRpcUrl }),
  });
}

function notAWallet(path: string, why: string): Failure {
  return new Failure(EXIT.unreadable, `${path} is not a wallet`, [why]);
}

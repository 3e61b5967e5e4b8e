import { join, resolve } from "node:path";
import { ALGORAND_PUBLIC_NETWORKS } from "@attestd/proof/algorand";
import { isLoopback } from "@attestd/proof/text";
import { EXIT, Failure } from "../failure.ts";
import { foundJsonObject } from "../files/files.ts";
import { isLockedByThisUser } from "../files/folder-lock.ts";
import { readKeys, type TrustedHistory } from "./keys.ts";

export const DEFAULT_FOLDER = ".attestd";

/**
 * The paths in the folder of a sandbox. `sandbox.json` is written last: when it exists, so do the others. `data` has what must
 * survive from one start to the next, the attestor's seed and other secrets of the service among it.
 */
export function sandboxFolder(folder: string) {
  const path = resolve(folder);
  return {
    path,
    description: join(path, "sandbox.json"),
    keys: join(path, "keys.json"),
    settings: join(path, "attestd.toml"),
    data: join(path, "data"),
    archive: join(path, "data", "networks.db"),
    journal: join(path, "data", "attestd.db"),
    checkpoints: join(path, "data", "checkpoints"),
    removed: join(path, "removed"),
    payments: join(path, "payments"),
    lock: join(path, "sandbox.lock"),
  };
}

export type SandboxFolder = ReturnType<typeof sandboxFolder>;

/**
 * The sandbox that runs in `./.attestd`, which is the default of commands. Anyone may have written these files: they may have
 * come with the current folder. So they count only while a process of this user, the sandbox, has the folder locked.
 *
 * @returns undefined when no sandbox of this user runs in `./.attestd`, or it is not ready
 */
export function runningSandbox() {
  const folder = sandboxFolder(DEFAULT_FOLDER);
  if (!isLockedByThisUser(folder.lock)) return undefined;
  const serviceUrl = foundJsonObject(folder.description)?.serviceUrl;
  return typeof serviceUrl === "string" && isOnThisMachine(serviceUrl) ? { folder, serviceUrl } : undefined;
}

/** The file with the keys of the sandbox in `./.attestd`, as an option would name it. */
export const SANDBOX_KEYS = join(DEFAULT_FOLDER, "keys.json");

/**
 * Reads the key history of the sandbox that runs in `./.attestd`. Verdicts that rest on it have the warning that its ledger
 * is not real.
 *
 * @returns undefined when none runs there
 * @throws Failure `usage` for a history that names more than a sandbox
 */
export async function sandboxKeys(): Promise<TrustedHistory | undefined> {
  if (runningSandbox() === undefined) return undefined;
  const trusted = await readKeys(SANDBOX_KEYS, "sandbox");
  const outside = trusted.trust.keys.find(({ origin }) => !isOnThisMachine(origin))?.origin;
  if (outside === undefined && isSandboxLedger(trusted.trust.ledger)) return trusted;
  throw new Failure(EXIT.usage, `${SANDBOX_KEYS} is not a sandbox's`, [
    `It is the key history of ${outside ?? "this machine"}, on ${trusted.trust.ledger}.`,
    `The person who made this folder could have made it. If you trust it, name it: --keys ${SANDBOX_KEYS}`,
  ]);
}

/** Whether a ledger may be a sandbox's: it is none of Algorand's public ones. @param ledger CAIP-2 */
export function isSandboxLedger(ledger: string): boolean {
  return !ALGORAND_PUBLIC_NETWORKS.includes(ledger);
}

/** Sandboxes listen only on loopback. */
function isOnThisMachine(url: string): boolean {
  return isLoopback(URL.parse(url)?.hostname ?? "");
}

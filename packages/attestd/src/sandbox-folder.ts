import { existsSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { ALGORAND_PUBLIC_NETWORKS } from "@attestd/proof/algorand";
import { EXIT, Failure } from "./failure.ts";
import { readJsonObject } from "./files.ts";
import { readKeys, type TrustedHistory } from "./keys-file.ts";
import { isLoopback } from "./loopback.ts";

export const DEFAULT_FOLDER = ".attestd";

/**
 * Paths in the folder of a sandbox. `sandbox.json` is written last: when it exists, so do the others. `data` has what must
 * not be lost from one start to the next, but the seed, which is in `service.env` as an operator would keep it.
 */
export function sandboxFolder(folder: string) {
  const path = resolve(folder);
  return {
    path,
    description: join(path, "sandbox.json"),
    keys: join(path, "keys.json"),
    settings: join(path, "service.env"),
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
 * The sandbox in `./.attestd`, which is the default of commands. Anyone may have written these files, which may have come
 * with the current folder. So they are used only for a sandbox on this machine.
 *
 * @returns undefined when `./.attestd` has no sandbox, or one of another machine
 */
export async function standingSandbox() {
  const folder = sandboxFolder(DEFAULT_FOLDER);
  if (!existsSync(folder.description)) return undefined;
  const { serviceUrl } = await readJsonObject(folder.description);
  return typeof serviceUrl === "string" && isOnThisMachine(serviceUrl) ? { folder, serviceUrl } : undefined;
}

/**
 * The key history of the sandbox in `./.attestd`. Verdicts that rest on it have the warning that its ledger is not real.
 *
 * @returns undefined when there is none
 * @throws Failure `usage` for a history that is not only of a sandbox
 */
export async function sandboxKeys(): Promise<TrustedHistory | undefined> {
  const { keys } = sandboxFolder(DEFAULT_FOLDER);
  if (!existsSync(keys)) return undefined;
  const shown = join(DEFAULT_FOLDER, basename(keys));
  const trusted = await readKeys(shown, "sandbox");
  const outside = trusted.trust.keys.find(({ origin }) => !isOnThisMachine(origin))?.origin;
  if (outside === undefined && isSandboxLedger(trusted.trust.ledger)) return trusted;
  throw new Failure(EXIT.usage, `${shown} is not of a sandbox`, [
    `It is the key history of ${outside ?? "this machine"}, on ${trusted.trust.ledger}.`,
    `The person who made this folder could have made it. If you trust it, name it: --keys ${shown}`,
  ]);
}

/** Whether a ledger (CAIP-2) may be a sandbox's. */
export function isSandboxLedger(ledger: string): boolean {
  return !ALGORAND_PUBLIC_NETWORKS.includes(ledger);
}

/** Sandboxes listen only on loopback. */
function isOnThisMachine(url: string): boolean {
  return isLoopback(URL.parse(url)?.hostname ?? "");
}

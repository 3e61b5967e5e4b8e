import { existsSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { ALGORAND_MAINNET, type KeyHistory } from "@attestd/proof";
import { EXIT, Failure } from "./failure.ts";
import { readJsonObject } from "./files.ts";
import { type Believed, readKeys } from "./keys-file.ts";

export const DEFAULT_FOLDER = ".attestd";

/** Paths in the folder of a sandbox. `sandbox.json` is written last: when it exists, so do the others. */
export function sandboxFolder(folder: string) {
  const path = resolve(folder);
  return {
    path,
    description: join(path, "sandbox.json"),
    keys: join(path, "keys.json"),
    settings: join(path, "service.env"),
    data: join(path, "data"),
    payments: join(path, "payments"),
    lock: join(path, "sandbox.lock"),
  };
}

export type SandboxFolder = ReturnType<typeof sandboxFolder>;

/** The sandbox of the current folder, which is the default of commands. */
export type StandingSandbox = { folder: SandboxFolder; serviceUrl: string };

/**
 * Anyone may have written the files of `./.attestd`, which may have come with the current folder. So they are used only
 * for a sandbox on this machine.
 * @returns undefined when `./.attestd` has no sandbox, or one of another machine
 */
export async function standingSandbox(): Promise<StandingSandbox | undefined> {
  const folder = sandboxFolder(DEFAULT_FOLDER);
  if (!existsSync(folder.description)) return undefined;
  const { serviceUrl } = await readJsonObject(folder.description);
  return typeof serviceUrl === "string" && isOnThisMachine(serviceUrl) ? { folder, serviceUrl } : undefined;
}

/**
 * The key history of the sandbox in `./.attestd`. Verdicts by it carry the warning that its ledger is not real.
 * @returns undefined when there is none
 * @throws Failure `usage` for a history of more than a sandbox
 */
export async function sandboxKeys(): Promise<(Believed & { trust: KeyHistory }) | undefined> {
  const { keys } = sandboxFolder(DEFAULT_FOLDER);
  if (!existsSync(keys)) return undefined;
  const shown = join(DEFAULT_FOLDER, basename(keys));
  const believed = await readKeys(shown, "sandbox");
  const outside = believed.trust.keys.find(({ origin }) => !isOnThisMachine(origin))?.origin;
  if (outside === undefined && isSandboxLedger(believed.trust.ledger)) return believed;
  throw new Failure(EXIT.usage, `${shown} is not of a sandbox`, [
    `It speaks for ${outside ?? "this machine"}, on ${believed.trust.ledger}.`,
    `Whoever made this folder could have made it. If you believe it, name it: --keys ${shown}`,
  ]);
}

/** The public networks of Algorand. */
const PUBLIC_LEDGERS: readonly string[] = [
  ALGORAND_MAINNET,
  // TestNet and BetaNet, by their genesis hashes.
  "algorand:SGO1GKSzyE7IEPItTxCByw9x8FmnrCDe",
  "algorand:mFgazF-2uRS1tMiL9dsj01hJGySEmPN2",
];

/** Whether a ledger (CAIP-2) may be a sandbox's. */
export function isSandboxLedger(ledger: string): boolean {
  return !PUBLIC_LEDGERS.includes(ledger);
}

/** Sandboxes listen on loopback alone. */
function isOnThisMachine(url: string): boolean {
  return /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(URL.parse(url)?.hostname ?? "");
}

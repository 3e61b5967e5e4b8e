import { keyWallet, type Wallet, type WalletKeys } from "@attestd/client";
import { EXIT, Failure } from "./failure.ts";
import { readJsonObject } from "./files.ts";

const KEYS = {
  algorand: ["address", "mnemonic"],
  base: ["address", "privateKey"],
  solana: ["address", "secretKeyBase64"],
} as const;

/**
 * Reads a payer's keys (`payers`) and nodes (`algodUrl`, `solanaRpcUrl`) in the format of `sandbox.json`. Other members are
 * ignored. @throws Failure `unreadable`
 */
export async function readWallet(path: string): Promise<Wallet> {
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

import { statSync } from "node:fs";
import { seedOfMnemonic } from "../../config/mnemonic.ts";
import { readSecretFile } from "../../config/secret-file.ts";
import type { KeyUse } from "../signer.ts";

/**
 * Reads the attestor's seeds, 32 bytes each, from the files of `attestd keygen`.
 *
 * @throws RangeError with the option's name, when a file has no seed, or others can read it
 */
export function readSeeds(files: { seed: string; mnemonic: string; falcon?: boolean }): Record<KeyUse, Uint8Array> {
  const option = files.falcon ? "--falcon-mnemonic-file" : "--mnemonic-file";
  return {
    pq: read(files.seed, "--seed-file", (text) => {
      if (!/^[0-9a-fA-F]{64}$/.test(text)) throw new RangeError("must have 32 bytes in hex");
      return Uint8Array.fromHex(text);
    }),
    account: read(files.mnemonic, option, seedOfMnemonic),
  };
}

/**
 * Reads a file that a group may be able to read: systemd's credentials look like this, because an access list opens
 * them to one user.
 */
function read(path: string, option: string, decode: (text: string) => Uint8Array): Uint8Array {
  try {
    const text = readSecretFile(path);
    if ((statSync(path).mode & 0o027) !== 0)
      throw new RangeError("can be read by others: chmod 600, and count the seed as stolen if they had the time");
    return decode(text);
  } catch (error) {
    throw error instanceof RangeError ? new RangeError(`${option} ${path} ${error.message}`) : error;
  }
}

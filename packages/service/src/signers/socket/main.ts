import { encodeAddress } from "@attestd/proof/algorand";
import type { Logger } from "pino";
import { openLog } from "../../observe/tracing/log.ts";
import { accountForm } from "../account-form.ts";
import { falconKey } from "../falcon.ts";

/** The parts of `attestd signer`. */
export { readSeeds } from "./seeds.ts";
export { startSigner } from "./server.ts";

/** Returns the address of the Falcon account whose mnemonic has these 32 bytes. */
export async function falconAddress(entropy: Uint8Array): Promise<string> {
  const key = await falconKey(entropy);
  await key.close();
  return encodeAddress(accountForm({ algorithm: "falcon-1024", publicKey: key.publicKey }).account);
}

/** @param lines takes the lines of the log, one JSON object each; default: standard output */
export function signerLog(lines: { write(line: string): void } | undefined): Logger {
  return openLog("info", lines);
}

import { aborted } from "node:util";
import { ALGORAND_MAINNET_GENESIS_HASH, isAlgorandAddress } from "@attestd/proof/algorand";
import type { Environment } from "../environment.ts";
import { EXIT, type ExitCode, Failure } from "../failure.ts";
import { readableLog } from "../log-text.ts";

export type SignerOptions = {
  socket: string;
  seedFile: string;
  mnemonicFile?: string;
  falconMnemonicFile?: string;
  address?: string;
  genesisHash?: string;
  group?: boolean;
  endorse?: string;
  revoke?: string;
  rekey?: string;
  perMinute?: string;
};

/** Runs the signer until it is asked to stop. @throws Failure `usage` when an option is wrong or the socket is in use */
export async function signer(options: SignerOptions, environment: Environment): Promise<ExitCode> {
  const stop = environment.stop();
  const { socket: path, seedFile, mnemonicFile, falconMnemonicFile, group = false } = options;
  const { address, endorse, revoke, rekey } = options;
  const falcon = falconMnemonicFile !== undefined;
  const mnemonic = falconMnemonicFile ?? mnemonicFile;
  if (mnemonic === undefined || (falcon && mnemonicFile !== undefined))
    throw new Failure(EXIT.usage, "name the account's key by --mnemonic-file, or by --falcon-mnemonic-file");
  for (const [name, value] of Object.entries({ address, rekey }))
    if (value !== undefined && !isAlgorandAddress(value))
      throw new Failure(EXIT.usage, `--${name} is not an Algorand address`);
  for (const [name, value] of Object.entries({ endorse, revoke }))
    if (value !== undefined && !/^[0-9a-f]{64}$/.test(value))
      throw new Failure(EXIT.usage, `--${name} is not the SHA-256 of a key record, which attestd keys prints`);
  const genesisHash = genesisOf(options.genesisHash ?? ALGORAND_MAINNET_GENESIS_HASH);
  const perMinute = perMinuteOf(options.perMinute);
  const { readSeeds, signerLog, startSigner } = await import("@attestd/service/signer");
  const log = signerLog(await readableLog(environment.out));
  try {
    const seeds = readSeeds({ seed: seedFile, mnemonic, falcon });
    const rule = { address, genesisHash, endorse, revoke, rekey, perMinute };
    const running = await startSigner({ ...rule, path, group, seeds, falcon, log });
    await aborted(stop, stop);
    await running.close();
    log.info("closed");
    return EXIT.good;
  } catch (error) {
    throw new Failure(EXIT.usage, "the signer did not start", [(error as Error).message], error);
  }
}

function genesisOf(text: string): Uint8Array {
  const bytes = Buffer.from(text, "base64");
  if (bytes.length === 32 && bytes.toString("base64") === text) return new Uint8Array(bytes);
  throw new Failure(EXIT.usage, "--genesis-hash must be 32 bytes in base64");
}

function perMinuteOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^[1-9]\d{0,6}$/.test(text)) return Number(text);
  throw new Failure(EXIT.usage, `--per-minute must be a whole number from 1, and is ${text}`);
}

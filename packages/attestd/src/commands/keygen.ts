import { createPrivateKey, createPublicKey, randomBytes } from "node:crypto";
import { unlink } from "node:fs/promises";
import { join, resolve } from "node:path";
import { keyId } from "@attestd/proof/attestor";
import algosdk from "algosdk";
import type { Environment } from "../environment.ts";
import { EXIT, type ExitCode } from "../failure.ts";
import { writeSecret } from "../secret-file.ts";

/**
 * Makes an attestor: the Algorand account that records, and the ML-DSA-65 key that signs. The secrets are written to two
 * files of mode 0600 and nowhere else. Existing files are never replaced, because a lost key cannot be made again.
 */
export async function keygen(
  options: { dir: string; falcon?: boolean; json?: boolean },
  environment: Environment,
): Promise<ExitCode> {
  const { falcon = false } = options;
  const entropy = randomBytes(32);
  const algorandAddress = await addressOf(entropy, falcon);
  const seed = randomBytes(32);
  const key = createPrivateKey({ key: seed, format: "raw-seed", asymmetricKeyType: "ml-dsa-65" });
  const pqPublicKey = createPublicKey(key).export({ format: "raw-public" });

  const mnemonicFile = join(resolve(options.dir), falcon ? "attestor.falcon-mnemonic" : "attestor.mnemonic");
  const seedFile = join(resolve(options.dir), "attestor.pq-seed");
  await writeSecret(mnemonicFile, algosdk.mnemonicFromSeed(entropy), "--dir");
  await writeSecret(seedFile, seed.toString("hex"), "--dir").catch(async (error: unknown) => {
    await unlink(mnemonicFile); // Neither is of use alone.
    throw error;
  });

  const kid = keyId(pqPublicKey);
  const setting = falcon ? "ATTESTOR_FALCON_MNEMONIC_FILE" : "ATTESTOR_MNEMONIC_FILE";
  environment.out.done(
    options.json,
    { algorandAddress, kid, settings: { [setting]: mnemonicFile, ATTESTOR_PQ_SEED_FILE: seedFile } },
    "Made an attestor",
    `  address  ${algorandAddress}`,
    `  kid      ${kid}`,
    "Settings:",
    `  ${setting}=${mnemonicFile}`,
    `  ATTESTOR_PQ_SEED_FILE=${seedFile}`,
    "Next:",
    "  Copy both files to a safe place: without the seed the key is lost, without the mnemonic the account.",
    `  Fund the address with ALGO: 0.1 that stays, and ${falcon ? "0.003" : "0.001"} for each attestation.`,
    "  PAY_TO_ALGORAND is another account, opted in to USDC (asset 31566704); its key stays off this host.",
  );
  return EXIT.good;
}

/** @param entropy the mnemonic's 32 bytes */
async function addressOf(entropy: Uint8Array, falcon: boolean): Promise<string> {
  if (!falcon) return algosdk.mnemonicToSecretKey(algosdk.mnemonicFromSeed(entropy)).addr.toString();
  const { falconAddress } = await import("@attestd/service/signer");
  return falconAddress(entropy);
}

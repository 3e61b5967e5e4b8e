import { createPrivateKey, createPublicKey, randomBytes } from "node:crypto";
import { unlink } from "node:fs/promises";
import { join, resolve } from "node:path";
import { command, flag, value, withDefault } from "../../command.ts";
import { EXIT } from "../../failure.ts";
import { json } from "../../options.ts";

/**
 * Makes an attestor: the Algorand account that records, and the ML-DSA-65 key that signs. The secrets are written to two
 * files of mode 0600 and nowhere else. Existing files are never replaced, because a lost key cannot be made again.
 */
export const keygen = command({
  name: "keygen",
  summary: "make the keys of an attestor",
  help: [
    "Make the keys of an attestor: an Algorand account and an ML-DSA-65 seed, each in a file that only you can read.",
    "  attestd keygen --dir /etc/attestd",
    "  attestd keygen --falcon --dir /etc/attestd      an account that is post-quantum too",
  ],
  options: {
    dir: withDefault(value("<dir>", "folder for the two files"), "."),
    falcon: flag("an account that authorises with Falcon-1024, post-quantum, on a ledger of consensus v42"),
    json,
  },
  async run(options, environment) {
    const { falcon = false } = options;
    const [{ default: algosdk }, { keyId }, { writeSecret }] = await Promise.all([
      import("algosdk"),
      import("@attestd/proof/attestor"),
      import("../../files/files.ts"),
    ]);
    const entropy = randomBytes(32);
    const mnemonic = algosdk.mnemonicFromSeed(entropy);
    const algorandAddress = falcon
      ? await (await import("@attestd/service/signer")).falconAddress(entropy)
      : algosdk.mnemonicToSecretKey(mnemonic).addr.toString();
    const seed = randomBytes(32);
    const key = createPrivateKey({ key: seed, format: "raw-seed", asymmetricKeyType: "ml-dsa-65" });
    const kid = keyId(createPublicKey(key).export({ format: "raw-public" }));

    const mnemonicFile = join(resolve(options.dir), falcon ? "attestor.falcon-mnemonic" : "attestor.mnemonic");
    const seedFile = join(resolve(options.dir), "attestor.pq-seed");
    await writeSecret(mnemonicFile, mnemonic, "--dir");
    await writeSecret(seedFile, seed.toString("hex"), "--dir").catch(async (error: unknown) => {
      await unlink(mnemonicFile); // Neither is of use alone.
      throw error;
    });

    const setting = falcon ? "falcon_mnemonic" : "mnemonic";
    environment.out.done(
      options.json,
      {
        algorandAddress,
        kid,
        settings: { [`attestor.${setting}`]: `file:${mnemonicFile}`, "attestor.pq_seed": `file:${seedFile}` },
      },
      "Made an attestor",
      `  address  ${algorandAddress}`,
      `  kid      ${kid}`,
      "Settings:",
      "  [attestor]",
      `  ${setting} = "file:${mnemonicFile}"`,
      `  pq_seed = "file:${seedFile}"`,
      "Next:",
      "  Copy both files to a safe place: without the seed the key is lost, without the mnemonic the account.",
      `  Fund the address with ALGO: 0.1 that stays, and ${falcon ? "0.003" : "0.001"} for each attestation.`,
      "  rails.algorand.pay_to is another account, opted in to USDC (asset 31566704); its key stays off this host.",
    );
    return EXIT.good;
  },
});

import { aborted } from "node:util";
import { command, flag, InvalidArgumentError, required, value } from "../../command.ts";
import { EXIT, Failure } from "../../failure.ts";
import { wholeNumber } from "../../options.ts";

/** Runs the process that holds the attestor's keys apart from the service, until it is asked to stop. */
export const signer = command({
  name: "signer",
  summary: "hold the attestor's keys apart from the service",
  help: [
    "Sign on a Unix socket what a service of this attestor asks for, and nothing else. docs/signer.md has the rule.",
    "  attestd signer --socket /run/attestd-signer/signer.sock --seed-file attestor.pq-seed --mnemonic-file attestor.mnemonic",
    '  attestd serve --settings /etc/attestd/attestd.toml    with attestor.signer = "socket" and attestor.socket',
  ],
  options: {
    socket: required(value("<path>", "where to listen; in a folder where nobody else may write")),
    seedFile: required(value("<file>", "the ML-DSA-65 seed, as attestd keygen writes it")),
    mnemonicFile: value("<file>", "the account's 25 words, as attestd keygen writes them"),
    falconMnemonicFile: value("<file>", "instead: the words of a Falcon key, as attestd keygen --falcon writes them"),
    address: value("<address>", "the account's address, if it is rekeyed to that key (default: the key's own)"),
    group: flag("let the socket's group connect too: mode 0660 instead of 0600"),
    genesisHash: value("<base64>", "genesis hash of the ledger to sign for (default: Algorand MainNet's)", genesisHash),
    endorse: value(
      "<hash>",
      "also sign this record of a next key, as `keys rotate` prints it; without it, none",
      recordHash,
    ),
    revoke: value(
      "<hash>",
      "also sign this record of a revocation, as `keys revoke` prints it; without it, none",
      recordHash,
    ),
    rekey: value("<address>", "also sign that the account is rekeyed to this address; without it, to none"),
    perMinute: value(
      "<n>",
      "signatures a minute of both keys together (default: no limit)",
      wholeNumber("a whole number, at least 1", 1, 9_999_999),
    ),
  },
  async run(options, environment) {
    const stop = environment.stop();
    const { socket: path, seedFile, mnemonicFile, falconMnemonicFile, group = false } = options;
    const { address, endorse, revoke, rekey, perMinute } = options;
    const mnemonic = falconMnemonicFile ?? mnemonicFile;
    if (mnemonic === undefined || (falconMnemonicFile !== undefined && mnemonicFile !== undefined))
      throw new Failure(EXIT.usage, "name the account's key by --mnemonic-file, or by --falcon-mnemonic-file");
    const falcon = falconMnemonicFile !== undefined;
    const [
      { ALGORAND_MAINNET_GENESIS_HASH, isAlgorandAddress },
      { readSeeds, signerLog, startSigner },
      { readableLog },
    ] = await Promise.all([
      import("@attestd/proof/algorand"),
      import("@attestd/service/signer"),
      import("../../terminal/terminal.ts"),
    ]);
    for (const [name, value] of Object.entries({ address, rekey }))
      if (value !== undefined && !isAlgorandAddress(value))
        throw new Failure(EXIT.usage, `--${name} is not an Algorand address`);
    const { genesisHash = fromBase64(ALGORAND_MAINNET_GENESIS_HASH) } = options;
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
  },
});

function genesisHash(text: string): Uint8Array {
  const bytes = fromBase64(text);
  if (bytes.length === 32 && Buffer.from(bytes).toString("base64") === text) return bytes;
  throw new InvalidArgumentError("A genesis hash is 32 bytes in base64.");
}

function fromBase64(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text, "base64"));
}

function recordHash(text: string): string {
  if (/^[0-9a-f]{64}$/.test(text)) return text;
  throw new InvalidArgumentError("It is the SHA-256 of a key record, which attestd keys prints.");
}

import { command, conflicting, group, operand, required, value } from "../../command.ts";
import { nodeUrl, operatorOptions, serviceUrl, settingsOptions, wholeNumber } from "../../options.ts";

const round = wholeNumber("a round of the ledger", 0, Number.MAX_SAFE_INTEGER);

const history = command({
  name: "history",
  summary: "print a key history, and check it",
  help: [
    "Print a key history after checking that each key endorses the next one and no key is missing between.",
    "  attestd keys history --service https://attestd.example --save keys.json",
    "  attestd keys history --keys keys.json --indexer https://indexer.example",
    "  attestd keys history --settings /etc/attestd/attestd.toml          of your own service, from its journal",
  ],
  options: {
    service: value("<url>", "the service that publishes it (default: the sandbox's)", serviceUrl),
    keys: conflicting(value("<file>", "a file that contains it"), "service"),
    settings: conflicting(settingsOptions.settings, "service", "keys"),
    sandbox: conflicting(settingsOptions.sandbox, "service", "keys"),
    indexer: value("<url>", "also compare it with the notes on the ledger that this indexer returns", nodeUrl),
    indexerTokenFile: value("<file>", "its token (default: with --settings, theirs of this indexer)"),
    save: value("<file>", "save it to this file; an earlier copy there is replaced only if the history continues it"),
    json: operatorOptions.json,
  },
  run: async (...given) => (await import("./history.ts")).printHistory(...given),
});

const rotate = command({
  name: "rotate",
  summary: "replace the attestor's key",
  help: [
    "Replace the attestor's key, while no service runs. If interrupted, run the same command again.",
    "  attestd keys rotate --settings /etc/attestd/attestd.toml --seed-file /etc/attestd/attestor-2.pq-seed",
    "  attestd keys rotate --settings /etc/attestd/attestd.toml --next /etc/attestd/next.toml",
  ],
  options: {
    ...operatorOptions,
    seedFile: value("<file>", "the new seed; a file that does not exist is created with one"),
    next: value("<file>", "a file with the table [attestor] of the next key, for a key of a signer"),
    from: value(
      "<round>",
      "first round of the new key (default: about ten rounds from now); a signer's record names it",
      round,
    ),
  },
  run: async (...given) => (await import("./change.ts")).rotateAttestorKey(...given),
});

const rekey = command({
  name: "rekey",
  summary: "give the attestor's account another key, under the same address",
  help: [
    "Give the attestor's account another key, while no service runs. Its address and the key history stay.",
    "  attestd keygen --falcon --dir /etc/attestd/next",
    "  attestd keys rekey --settings /etc/attestd/attestd.toml --next /etc/attestd/next.toml",
  ],
  options: {
    ...operatorOptions,
    next: required(value("<file>", "a file with the table [attestor] of the next key, with the account's address")),
  },
  run: async (...given) => (await import("./change.ts")).rekeyAttestorAccount(...given),
});

const revoke = command({
  name: "revoke",
  summary: "withdraw a key of the attestor",
  help: [
    "Withdraw a key of the attestor, current or replaced. If interrupted, run the same command again.",
    "  attestd keys revoke KID --from 46581204 --settings /etc/attestd/attestd.toml",
  ],
  operands: [operand("<kid>", "id of the key, as the history lists it")],
  options: {
    ...operatorOptions,
    from: value("<round>", "round of the ledger from which its signatures do not count (default: the next)", round),
  },
  run: async (...given) => (await import("./change.ts")).revokeAttestorKey(...given),
});

const restore = command({
  name: "restore",
  summary: "restore keys that the journal of a restored backup lacks",
  help: [
    "Add the keys of a saved history to a journal whose backup is older, while no service runs.",
    "  attestd keys restore keys.json --settings /etc/attestd/attestd.toml",
  ],
  operands: [
    operand("<file>", "the history, as `keys history --save` writes it; the ledger must have a note of all new keys"),
  ],
  options: operatorOptions,
  run: async (...given) => (await import("./change.ts")).restoreAttestorKeys(...given),
});

export const keys = group({
  name: "keys",
  summary: "the keys of an attestor over time: history, rotate, rekey, revoke, restore",
  help: [
    "The keys of an attestor over time.",
    "  attestd keys history --service https://attestd.example --save keys.json",
    "  attestd help keys rotate",
  ],
  commands: [history, rotate, rekey, revoke, restore],
});

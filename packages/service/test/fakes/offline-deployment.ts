import algosdk from "algosdk";
import { openHistory } from "../../src/attestor/history.ts";
import { readConfig } from "../../src/config/config.ts";
import { openJournal } from "../../src/journal/open.ts";
import { ownTables } from "../../src/payment/rails/registry.ts";
import { seedSigner } from "../seed-signer.ts";
import { type Settings, secret, settingsOf } from "../settings.ts";
import { aCall, aLargeEvidence, deliver } from "./calls.ts";

/** MainNet's, in base64. */
export const GENESIS = "wGHE2Pwdvd7S12BL5FaOP20EGYesN73ktiC1qzkkit8=";
export const ACCOUNT = algosdk.mnemonicToSecretKey(algosdk.mnemonicFromSeed(new Uint8Array(32).fill(1)));
/** In the value of every secret of the settings. */
export const SECRET = "5ec4e7";

export const SEED = SECRET.padEnd(64, "0");
export const MNEMONIC = algosdk.secretKeyToMnemonic(ACCOUNT.sk);

/** Settings of a deployment whose upstreams never answer: for commands that ask none. */
export function offlineSettings(databaseUrl: string): Settings {
  const url = `http://127.0.0.1:9/${SECRET}`;
  const node = { url, token: secret(SECRET) };
  return settingsOf({
    journal: { url: secret(databaseUrl) },
    chains: { algorand: { algod: [node], indexer: [node] }, base: { rpc: [url] } },
    attestor: { mnemonic: secret(MNEMONIC), pq_seed: secret(SEED) },
    rails: { algorand: { pay_to: ACCOUNT.addr.toString() } },
    facilitators: [{ url: "https://facilitator.example", rails: ["algorand"], kind: "header", secret: secret(SECRET) }],
  });
}

/**
 * Begins the journal that the settings name, with a call that is delivered, and one that was begun.
 *
 * @param more begun calls, each with 100 KB of evidence
 * @returns the two calls, and where the journal is
 */
export async function beginJournal(settings: Settings, more = 0) {
  const { database, algorand } = readConfig(settings, { sandbox: false, own: ownTables() });
  const journal = await openJournal(database, { warn: () => undefined });
  const algorandAddress = ACCOUNT.addr.toString();
  await journal.claim({ genesisHash: GENESIS, algorandAddress });
  const signer = seedSigner(Buffer.from(SEED, "hex"));
  const origin = "https://attestd.example";
  await openHistory({ journal, signer, ledger: algorand.caip2, algorandAddress, origin, round: 1 });
  const done = await deliver(journal);
  const begun = await journal.insert(aCall({ key: "begun" }));
  for (let i = 0; i < more; i++)
    await journal.insert(aCall({ key: `more ${i}`, evidence: aLargeEvidence(`SOURCE ${i}`) }));
  await journal.close();
  return { database, calls: [done, begun] };
}

import algosdk from "algosdk";
import { openHistory } from "../../src/attestor/history.ts";
import { readConfig } from "../../src/config/config.ts";
import { openJournal } from "../../src/journal/open.ts";
import { RAIL_SETTINGS } from "../../src/payment/rails/registry.ts";
import { seedSigner } from "../seed-signer.ts";
import { aCall, aLargeEvidence, deliver } from "./calls.ts";

/** MainNet's, in base64. */
export const GENESIS = "wGHE2Pwdvd7S12BL5FaOP20EGYesN73ktiC1qzkkit8=";
export const ACCOUNT = algosdk.mnemonicToSecretKey(algosdk.mnemonicFromSeed(new Uint8Array(32).fill(1)));
/** In the value of every secret of the settings. */
export const SECRET = "5ec4e7";

/** Settings of a deployment whose upstreams never answer: for commands that ask none. */
export function offlineSettings(databaseUrl: string) {
  return {
    DATABASE_URL: databaseUrl,
    ALGOD_URL: `http://127.0.0.1:9/${SECRET}`,
    ALGOD_TOKEN: SECRET,
    INDEXER_URL: `http://127.0.0.1:9/${SECRET}`,
    INDEXER_TOKEN: SECRET,
    ATTESTOR_MNEMONIC: algosdk.secretKeyToMnemonic(ACCOUNT.sk),
    ATTESTOR_PQ_SEED: SECRET.padEnd(64, "0"),
    PAY_TO_ALGORAND: ACCOUNT.addr.toString(),
    FACILITATOR_URL: "https://facilitator.example",
    FACILITATOR_KIND: "header",
    FACILITATOR_SECRET: SECRET,
    BASE_RPC_URL: `http://127.0.0.1:9/${SECRET}`,
  };
}

/**
 * Begins the journal that the settings name, with a call that is delivered, and one that was begun.
 *
 * @param more begun calls, each with 100 KB of evidence
 * @returns the two calls, and where the journal is
 */
export async function beginJournal(settings: ReturnType<typeof offlineSettings>, more = 0) {
  const { database, algorand } = readConfig(settings, { sandbox: false, rails: RAIL_SETTINGS });
  const journal = await openJournal(database, { warn: () => undefined });
  const algorandAddress = ACCOUNT.addr.toString();
  await journal.claim({ genesisHash: GENESIS, algorandAddress });
  const signer = seedSigner(Buffer.from(settings.ATTESTOR_PQ_SEED, "hex"));
  const origin = "https://attestd.example";
  await openHistory({ journal, signer, ledger: algorand.caip2, algorandAddress, origin, round: 1 });
  const done = await deliver(journal);
  const begun = await journal.insert(aCall({ key: "begun" }));
  for (let i = 0; i < more; i++)
    await journal.insert(aCall({ key: `more ${i}`, evidence: aLargeEvidence(`SOURCE ${i}`) }));
  await journal.close();
  return { database, calls: [done, begun] };
}

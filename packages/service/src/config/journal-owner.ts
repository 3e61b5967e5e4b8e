import { configInvalid } from "./config.ts";

/** The ledger and the account that a journal belongs to. */
type Owner = { genesisHash: string; algorandAddress: string };

/**
 * Checks that the journal which DATABASE_URL names belongs to the configured ledger and, where one is given, account.
 *
 * @param recorded as the journal has it
 * @throws config_invalid
 */
export function requireOwner(recorded: Owner, own: Pick<Owner, "genesisHash"> & Partial<Owner>): void {
  if (recorded.genesisHash !== own.genesisHash)
    throw configInvalid(`DATABASE_URL holds the journal of another ledger, of genesis ${recorded.genesisHash}.`);
  if (own.algorandAddress !== undefined && recorded.algorandAddress !== own.algorandAddress)
    throw configInvalid(`DATABASE_URL holds the journal of another attestor, ${recorded.algorandAddress}.`);
}

import type { KeyHistory } from "@attestd/proof";
import { readHistory } from "../attestor/history.ts";
import type { Config } from "../config/config.ts";
import { ServiceError } from "../errors.ts";
import { requireOwner } from "../journal/open.ts";
import type { JournalReader } from "../journal/reader.ts";

/**
 * The key history by which a journal is judged.
 *
 * @throws not_allowed when no service has begun the journal yet; config_invalid when it is of another ledger; Error
 *   when its history is none that a verifier would take
 */
export async function journalHistory(
  journal: Pick<JournalReader, "identity" | "keys" | "revocations">,
  { algorand: { genesisHash, caip2 } }: Pick<Config, "algorand">,
): Promise<KeyHistory> {
  const identity = await journal.identity();
  if (!identity || (await journal.keys()).length === 0)
    throw new ServiceError("not_allowed", "The journal is empty: no service has begun it yet.");
  requireOwner(identity, { genesisHash });
  return readHistory(journal, caip2);
}

import { writeFile } from "node:fs/promises";
import { checkpointEntry, encodeCheckpointTable } from "@attestd/proof/evidence";
import { testEvidence } from "../bundles/evidence.ts";
import type { Deployment } from "./deployment.ts";

/** Gives a deployment a table of one checkpoint to publish, which no walk has verified. */
export async function giveTable({ settings, sandbox }: Deployment): Promise<void> {
  const { genesisHash } = sandbox;
  const { checkpoint } = testEvidence(genesisHash);
  const table = { genesisHash, firstRound: checkpoint.round, interval: 16, entries: checkpointEntry(checkpoint) };
  await writeFile(settings.tables.checkpoint_table as string, encodeCheckpointTable(table));
}

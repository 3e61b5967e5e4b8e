import { join } from "node:path";
import type { Listed } from "@attestd/web/id-list";
import { writeAtomically } from "../../files/files.ts";
import { sourceOf } from "../../files/sources.ts";
import type { Environment } from "../../terminal/environment.ts";
import { checkSource } from "../../trust/check-file.ts";
import type { TrustedKeys } from "../../trust/keys.ts";
import { type ExportRow, exportRow } from "../export/rows.ts";
import { csvFile } from "../export/run.ts";
import type { ListState } from "./list-state.ts";

export const TABLE = "attestations.csv";

type Bought = {
  listed: readonly Listed[];
  /** Why transactions could not be attested, by id. */
  refused: ReadonlyMap<string, string>;
  folder: string;
  state: ListState;
  trusted: TrustedKeys | undefined;
};

/** Checks every file that was saved, and writes the table in the order of the list. @returns whether all are verified */
export async function writeTable(
  { listed, refused, folder, state: { done }, trusted }: Bought,
  environment: Environment,
): Promise<boolean> {
  const rows: ExportRow[] = [];
  let areVerified = true;
  const check = async (name: string) => {
    const [result] = await checkSource(sourceOf(join(folder, name)), { trusted, chains: undefined, environment });
    return result;
  };
  const payments = new Map<string, ExportRow>();
  for (const { txid } of listed) {
    const receipt = done[txid];
    if (receipt === undefined) {
      const remarks = refused.get(txid) ?? "its batch was not bought";
      rows.push({ verdict: "Not attested", remarks, transaction: txid });
      continue;
    }
    if (receipt !== "" && !payments.has(receipt)) payments.set(receipt, exportRow(await check(receipt), trusted));
    const { paid_on, paid_by, payment } = payments.get(receipt) ?? {};
    const result = await check(`${txid}.json`);
    areVerified &&= result.kind === "checked" && result.report.verified;
    rows.push({ ...exportRow(result, trusted), paid_on, paid_by, payment });
  }
  await writeAtomically(join(folder, TABLE), csvFile(rows), 0o644);
  return areVerified;
}

import { readFile, stat } from "node:fs/promises";
import { ALGORAND_MAINNET, type KeyHistory, parseJson, parseKeyHistory, type Trust } from "@attestd/proof";
import { historyAge, type TrustBasis, writtenAt } from "@attestd/web/trust-basis";
import { EXIT, Failure, failsFor } from "./failure.ts";

/** The keys that the reader trusts, and where they come from. */
export type Believed = { trust: Trust; basis: TrustBasis };

/** The libraries' options for trusted keys. */
export function trustOptions(believed: Believed | undefined): { trust?: Trust; historyAge?: number } {
  return believed ? { trust: believed.trust, historyAge: historyAge(believed.basis) } : {};
}

/**
 * Reads a key history in the format of `/.well-known/attestor-keys.json`.
 *
 * @returns with the date of the file: the list was fetched then, or earlier
 * @throws Failure `unreadable`
 */
export async function readKeys(
  path: string,
  basis: "file" | "sandbox" = "file",
): Promise<Believed & { trust: KeyHistory }> {
  const reading = Promise.all([readFile(path), stat(path)]);
  const [bytes, { mtimeMs }] = await reading.catch(failsFor(EXIT.unreadable, `read ${path}`));
  try {
    const trust = parseKeyHistory(parseJson(bytes));
    const since = writtenAt(mtimeMs);
    return { trust, basis: { basis, name: path, ...(since !== undefined && { since }) } };
  } catch (error) {
    throw new Failure(EXIT.unreadable, `${path} is not a key history`, [fault(error)], error);
  }
}

/** A sentence about an error in a key history. @param error of the parser, or of a comparison */
export function fault(error: unknown): string {
  const { pointer, message } = error as { pointer?: string; message: string };
  return `${pointer ? `${pointer}: ` : ""}${message}.`;
}

/** Keys known only by their ids. @param ledger CAIP-2; MainNet by default */
export function pinnedKeys(kids: string[], ledger: string = ALGORAND_MAINNET): Believed {
  return { trust: { kids, ledger }, basis: { basis: "kid", name: kids.join(" ") } };
}

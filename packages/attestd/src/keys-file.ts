import { readFile, stat } from "node:fs/promises";
import { ALGORAND_MAINNET, type KeyHistory, parseJson, parseKeyHistory, type Trust } from "@attestd/proof";
import { historyAge, type TrustBasis, writtenAt } from "@attestd/web/trust-basis";
import { EXIT, Failure, fileTrouble } from "./failure.ts";

/** In whom the reader believes, and on whose word. */
export type Believed = { trust: Trust; basis: TrustBasis };

/** Options by which libraries are told whom to believe. */
export function trustOptions(believed: Believed | undefined): { trust?: Trust; historyAge?: number } {
  return believed ? { trust: believed.trust, historyAge: historyAge(believed.basis) } : {};
}

/**
 * Reads a key history, as `/.well-known/attestor-keys.json` gives it.
 *
 * @returns dated by when the file was written: the list was fetched then, or earlier by whoever handed it on
 * @throws Failure `unreadable`
 */
export async function readKeys(
  path: string,
  basis: "file" | "sandbox" = "file",
): Promise<Believed & { trust: KeyHistory }> {
  const [bytes, { mtimeMs }] = await Promise.all([readFile(path), stat(path)]).catch((error: unknown) => {
    throw new Failure(EXIT.unreadable, `can't read ${path}`, [fileTrouble(error)], error);
  });
  try {
    const trust = parseKeyHistory(parseJson(bytes));
    const since = writtenAt(mtimeMs);
    return { trust, basis: { basis, name: path, ...(since !== undefined && { since }) } };
  } catch (error) {
    throw new Failure(EXIT.unreadable, `${path} is not a key history`, [fault(error)], error);
  }
}

/** What is wrong with a key history, and where, as a sentence. @param error of the parser, or of a comparison */
export function fault(error: unknown): string {
  const { pointer, message } = error as { pointer?: string; message: string };
  return `${pointer ? `${pointer}: ` : ""}${message}.`;
}

/** Keys known by their ids alone, of a ledger (CAIP-2), MainNet unless named. */
export function pinnedKeys(kids: string[], ledger: string = ALGORAND_MAINNET): Believed {
  return { trust: { kids, ledger }, basis: { basis: "kid", name: kids.join(" ") } };
}

import { readFile, stat } from "node:fs/promises";
import { ALGORAND_MAINNET, type KeyHistory, parseJson, parseKeyHistory, type Trust } from "@attestd/proof";
import { EXIT, Failure, fileTrouble } from "./failure.ts";

/** In whom the reader believes, and how old that knowledge is. */
export type Believed = { trust: Trust; historyAge?: number };

/**
 * Reads a key history, as `/.well-known/attestor-keys.json` gives it.
 *
 * @returns with `historyAge`, in seconds: since the file was written, so since it was fetched or later
 * @throws Failure `unreadable`
 */
export async function readKeys(path: string): Promise<{ trust: KeyHistory; historyAge: number }> {
  const [bytes, { mtimeMs }] = await Promise.all([readFile(path), stat(path)]).catch((error: unknown) => {
    throw new Failure(EXIT.unreadable, `can't read ${path}`, [fileTrouble(error)], error);
  });
  try {
    const trust = parseKeyHistory(parseJson(bytes));
    return { trust, historyAge: Math.max(0, (Date.now() - mtimeMs) / 1000) };
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
  return { trust: { kids, ledger } };
}

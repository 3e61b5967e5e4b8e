import { readFile, stat } from "node:fs/promises";
import { ALGORAND_MAINNET, parseJson, parseKeyHistory, type Trust } from "@attestd/proof";
import { EXIT, Failure, fileTrouble } from "./failure.ts";

/** In whom the reader believes, and how old that knowledge is. */
export type Believed = { trust: Trust; historyAge?: number };

/**
 * Reads a key history, as `/.well-known/attestor-keys.json` gives it.
 *
 * @returns with `historyAge`, in seconds: since the file was written, so since it was fetched or later
 * @throws Failure `unreadable`
 */
export async function readKeys(path: string): Promise<Believed> {
  const [bytes, { mtimeMs }] = await Promise.all([readFile(path), stat(path)]).catch((error: unknown) => {
    throw new Failure(EXIT.unreadable, `can't read ${path}`, [fileTrouble(error)], error);
  });
  try {
    const trust = parseKeyHistory(parseJson(bytes));
    return { trust, historyAge: Math.max(0, (Date.now() - mtimeMs) / 1000) };
  } catch (error) {
    const { pointer, message } = error as { pointer?: string; message: string };
    const why = `${pointer ? `${pointer}: ` : ""}${message}.`;
    throw new Failure(EXIT.unreadable, `${path} is not a key history`, [why], error);
  }
}

/** Keys known by their ids alone, of a ledger (CAIP-2), MainNet unless named. */
export function pinnedKeys(kids: string[], ledger: string = ALGORAND_MAINNET): Believed {
  return { trust: { kids, ledger } };
}

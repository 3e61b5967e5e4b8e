import { algorandCaip2, fromBase64, type KeyHistory, keyNotePrefix, type RecordedNote } from "@attestd/proof";

/** The indexer could not be asked; a sentence for people. */
export class IndexerNotAsked extends Error {}

type Listed = { id: string; sender: string; note?: string; "confirmed-round": number; "genesis-hash": string };
type Page = { transactions: Listed[]; "next-token"?: string };

const TIMEOUT_MS = 30_000;
/** Key notes are few: more pages than this are no answer to our question. */
const MOST_PAGES = 100;

/**
 * The key notes of an attestor, as an indexer shows them (Algorand's indexer API, v2). Its word is taken: ask one that
 * has nothing to do with the attestor, or several.
 *
 * @throws IndexerNotAsked
 */
export async function recordedKeyNotes(indexer: string, { ledger, keys }: KeyHistory): Promise<RecordedNote[]> {
  const notes: RecordedNote[] = [];
  for (const address of new Set(keys.map(({ algorandAddress }) => algorandAddress))) {
    const query = new URLSearchParams({
      address,
      "address-role": "sender",
      "tx-type": "pay",
      "note-prefix": Buffer.from(keyNotePrefix(ledger)).toString("base64"),
    });
    for await (const { id, sender, note = "", ...at } of listed(
      `${indexer.replace(/\/+$/, "")}/v2/transactions`,
      query,
    )) {
      if (algorandCaip2(fromBase64(at["genesis-hash"])) !== ledger) continue;
      notes.push({
        txid: id,
        sender,
        round: at["confirmed-round"],
        note: Buffer.from(note, "base64").toString("utf8"),
      });
    }
  }
  return notes;
}

async function* listed(url: string, query: URLSearchParams): AsyncGenerator<Listed> {
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const { transactions, "next-token": next } = await ask(`${url}?${query}`);
    yield* transactions;
    if (!next || transactions.length === 0) return;
    query.set("next", next);
  }
  throw new IndexerNotAsked(`${new URL(url).origin} lists without end.`);
}

async function ask(url: string): Promise<Page> {
  const { origin } = new URL(url);
  const response = await fetch(url, { redirect: "error", signal: AbortSignal.timeout(TIMEOUT_MS) }).catch((cause) => {
    throw new IndexerNotAsked(`No answer from ${origin}.`, { cause });
  });
  const page = (await response.json().catch(() => undefined)) as Page | undefined;
  if (response.ok && Array.isArray(page?.transactions)) return page;
  throw new IndexerNotAsked(`${origin} answered ${response.status}, and no list of transactions.`);
}

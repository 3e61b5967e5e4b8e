import type { KeyHistory, RecordedNote } from "@attestd/proof";
import { algorandCaip2 } from "@attestd/proof/algorand";
import { keyNotePrefix } from "@attestd/proof/attestor";
import { fromBase64 } from "@attestd/proof/encoding";
import { withoutTrailing } from "@attestd/proof/text";
import { EXIT, Failure } from "./failure.ts";

/** An indexer, and its token if it needs one. */
export type Indexer = { url: string; token?: string | undefined };

type Listed = { id: string; sender: string; note?: string; "confirmed-round": number; "genesis-hash": string };
type Page = { transactions: Listed[]; "next-token"?: string };

const TIMEOUT_MS = 30_000;
/** Key notes are few: an indexer that returns more pages is faulty. */
const MAX_PAGES = 100;

/**
 * The key notes of an attestor according to an indexer (Algorand's indexer API, v2). Its answers are not verified: ask one
 * that is independent of the attestor, or several. @throws Failure `unreachable`
 */
export async function recordedKeyNotes(indexer: Indexer, { ledger, keys }: KeyHistory): Promise<RecordedNote[]> {
  const notes: RecordedNote[] = [];
  for (const address of new Set(keys.map(({ algorandAddress }) => algorandAddress))) {
    const query = new URLSearchParams({
      address,
      "address-role": "sender",
      "tx-type": "pay",
      "note-prefix": Buffer.from(keyNotePrefix(ledger)).toString("base64"),
    });
    for await (const { id, sender, note = "", ...at } of listed(indexer, query)) {
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

async function* listed({ url, token }: Indexer, query: URLSearchParams): AsyncGenerator<Listed> {
  const transactions = `${withoutTrailing(url, "/")}/v2/transactions`;
  // The indexer's own header, and algod's, which hosted nodes expect.
  const headers = token === undefined ? {} : { "x-indexer-api-token": token, "x-algo-api-token": token };
  for (let count = 0; count < MAX_PAGES; count += 1) {
    const { transactions: page, "next-token": next } = await ask(`${transactions}?${query}`, headers);
    yield* page;
    if (!next || page.length === 0) return;
    query.set("next", next);
  }
  throw notAsked(`${new URL(url).origin} returns pages without end.`);
}

async function ask(url: string, headers: Record<string, string>): Promise<Page> {
  const { origin } = new URL(url);
  // A redirect would send the token to another host.
  const options = { headers, redirect: "error", signal: AbortSignal.timeout(TIMEOUT_MS) } as const;
  const response = await fetch(url, options).catch((cause) => {
    throw notAsked(`No answer from ${origin}.`, cause);
  });
  const page = (await response.json().catch(() => undefined)) as Page | undefined;
  if (response.ok && Array.isArray(page?.transactions)) return page;
  const why = response.status === 401 || response.status === 403 ? "it needs a token" : "no list of transactions";
  throw notAsked(`${origin} answered ${response.status}: ${why}.`);
}

function notAsked(why: string, cause?: unknown): Failure {
  return new Failure(EXIT.unreachable, "couldn't ask the ledger", [why], cause);
}

import type { KeyHistory, RecordedNote } from "@attestd/proof";
import { algorandCaip2 } from "@attestd/proof/algorand";
import { keyNotePrefix } from "@attestd/proof/attestor";
import { fromBase64 } from "@attestd/proof/encoding";
import { excerpt, withoutTrailing } from "@attestd/proof/text";
import { EXIT, Failure } from "../../failure.ts";
import type { Node } from "../../trust/nodes.ts";

type Listed = {
  id: string;
  sender: string;
  "tx-type": string;
  /** Base64. */
  note?: string;
  "confirmed-round": number;
  "genesis-hash": string;
};
type Page = { transactions: Listed[]; "next-token"?: string };

const TIMEOUT_MS = 30_000;
/** Key notes are few: an indexer that returns more pages is faulty. */
const MAX_PAGES = 100;
/** Pages of 1,000 transactions each, when the indexer lists all transactions of an account, attestations included. */
const MAX_UNFILTERED_PAGES = 2_000;

/**
 * Asks an indexer for the key notes of an attestor (Algorand's indexer API, v2). Its answers are not verified: ask an indexer
 * that is independent of the attestor, or several. An indexer with its default settings refuses the filters; then all
 * transactions of the account are listed. @throws Failure `unreachable`
 */
export async function recordedKeyNotes(indexer: Node, { ledger, keys }: KeyHistory): Promise<RecordedNote[]> {
  const notes: RecordedNote[] = [];
  const prefix = keyNotePrefix(ledger);
  const filters = { "address-role": "sender", "tx-type": "pay", "note-prefix": Buffer.from(prefix).toString("base64") };
  for (const address of new Set(keys.map(({ algorandAddress }) => algorandAddress))) {
    for await (const { id, sender, note: base64 = "", ...at } of listed(indexer, address, filters)) {
      const note = Buffer.from(base64, "base64").toString("utf8");
      // An indexer that refuses or ignores the filters lists other transactions too.
      if (sender !== address || at["tx-type"] !== "pay" || !note.startsWith(prefix)) continue;
      if (algorandCaip2(fromBase64(at["genesis-hash"])) !== ledger) continue;
      notes.push({ txid: id, sender, round: at["confirmed-round"], note });
    }
  }
  return notes;
}

async function* listed({ url, token }: Node, address: string, filters: Record<string, string>): AsyncGenerator<Listed> {
  const transactions = `${withoutTrailing(url, "/")}/v2/transactions`;
  // The indexer's own header, and algod's, which hosted nodes expect.
  const headers = token === undefined ? {} : { "x-indexer-api-token": token, "x-algo-api-token": token };
  let query = new URLSearchParams({ address, ...filters });
  let most = MAX_PAGES;
  for (let count = 0; count < most; count += 1) {
    const page = await ask(`${transactions}?${query}`, headers);
    if (page === "disabled") {
      if (most === MAX_UNFILTERED_PAGES) throw notAsked(`${new URL(url).origin} refuses to list an account.`);
      query = new URLSearchParams({ address, limit: "1000" });
      most = MAX_UNFILTERED_PAGES;
      continue;
    }
    yield* page.transactions;
    const { "next-token": next } = page;
    if (!next || page.transactions.length === 0) return;
    query.set("next", next);
  }
  throw notAsked(`${new URL(url).origin} returns pages without end.`);
}

/** @returns `disabled` when the indexer's settings do not allow a parameter of the query */
async function ask(url: string, headers: Record<string, string>): Promise<Page | "disabled"> {
  const { origin } = new URL(url);
  // A redirect would send the token to another host.
  const options = { headers, redirect: "error", signal: AbortSignal.timeout(TIMEOUT_MS) } as const;
  const response = await fetch(url, options).catch((cause) => {
    throw notAsked(`No answer from ${origin}.`, cause);
  });
  const answer = (await response.json().catch(() => undefined)) as (Partial<Page> & { message?: unknown }) | undefined;
  if (response.ok && Array.isArray(answer?.transactions)) return answer as Page;
  const message = typeof answer?.message === "string" ? answer.message : "no list of transactions";
  if (response.status === 400 && message.startsWith("provided disabled parameter")) return "disabled";
  const why = response.status === 401 || response.status === 403 ? "it needs a token" : printable(message);
  throw notAsked(`${origin} answered ${response.status}: ${why}.`);
}

/** Makes an indexer's message fit on one line of a terminal. */
function printable(message: string): string {
  return excerpt(message.replaceAll(/[^\x20-\x7e]/g, " "), 200);
}

function notAsked(why: string, cause?: unknown): Failure {
  return new Failure(EXIT.unreachable, "couldn't ask the ledger", [why], cause);
}

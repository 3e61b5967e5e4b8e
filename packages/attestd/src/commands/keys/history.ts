import { existsSync } from "node:fs";
import {
  checkKeyNotes,
  isProofError,
  type KeyHistory,
  keyStatusOf,
  parseJson,
  parseKeyHistory,
  type RecordedNote,
} from "@attestd/proof";
import { algorandCaip2 } from "@attestd/proof/algorand";
import { keyNotePrefix } from "@attestd/proof/attestor";
import { fromBase64 } from "@attestd/proof/encoding";
import { excerpt, withoutTrailing } from "@attestd/proof/text";
import { hostOf } from "@attestd/web/printable";
import { breakBetween } from "@attestd/web/trust-basis";
import { EXIT, type ExitCode, Failure, failsFor } from "../../failure.ts";
import { writeAtomically } from "../../files/files.ts";
import { operate } from "../../operator/operate.ts";
import { isNode, readSettings } from "../../operator/settings.ts";
import type { SettingsOptions } from "../../options.ts";
import type { Environment } from "../../terminal/environment.ts";
import type { Terminal } from "../../terminal/terminal.ts";
import { type Node, namedNode } from "../../trust/chain-check.ts";
import { fault, readKeys, servedKeys, spanOf } from "../../trust/keys.ts";
import { runningSandbox } from "../../trust/sandbox-folder.ts";

type KeysHistoryOptions = SettingsOptions & {
  service?: string;
  keys?: string;
  indexer?: string;
  indexerTokenFile?: string;
  save?: string;
  json?: boolean;
};

const READING = "reading the key history";

/** Checks a key history and prints it. If asked, it is also compared with the ledger and with an earlier copy. */
export async function printHistory(options: KeysHistoryOptions, environment: Environment): Promise<ExitCode> {
  using working = environment.working(READING);
  const { history, from } = await find(options, environment);
  const indexer = await indexerOf(options, environment);
  working.show("asking the indexer");
  const results = [await compareWithLedger(history, from, indexer)];
  working.show(undefined);
  if (options.save !== undefined) results.push(await saveHistory(history, from, options.save));

  if (options.json) environment.out.json(history);
  else print(history, environment.out, results);
  return EXIT.good;
}

/** @returns the history, and the name of its source for messages */
async function find(options: KeysHistoryOptions, environment: Environment) {
  const { service, keys, settings, sandbox } = options;
  if (keys !== undefined) return { history: (await readKeys(keys)).trust, from: keys };
  if (settings !== undefined || sandbox) {
    const from = "the journal";
    const texts = { doing: READING, undone: "can't read the key history" };
    const kept = await operate(options, environment, texts, ({ readKeyHistory }, ...rest) => readKeyHistory(...rest));
    return { history: checked(from, () => parseKeyHistory(kept)), from };
  }
  const url = service ?? runningSandbox()?.serviceUrl;
  if (url !== undefined) {
    const bytes = await servedKeys(url);
    return { history: checked(url, () => parseKeyHistory(parseJson(bytes))), from: url };
  }
  throw new Failure(EXIT.usage, "whose key history?", ["Name it: --service URL, --keys FILE or --settings FILE."]);
}

/** Calls the parser. @throws Failure for its errors */
function checked(from: string, parse: () => KeyHistory): KeyHistory {
  try {
    return parse();
  } catch (error) {
    if (isProofError(error, "json"))
      throw new Failure(EXIT.unreadable, `the answer of ${from} is not a key history`, [fault(error)], error);
    throw refused(from, [fault(error)], error);
  }
}

/** The indexer to ask. Its token is in the named file, or else in the settings if they have one for this indexer. */
async function indexerOf(
  { indexer: url, indexerTokenFile, ...options }: KeysHistoryOptions,
  environment: Environment,
): Promise<Node | undefined> {
  const node = await namedNode("indexer", url, indexerTokenFile);
  if (node === undefined || node.token !== undefined) return node;
  if (options.settings === undefined && !options.sandbox) return node;
  const settings = readSettings(options, environment);
  const { chains } = settings.tables as { chains?: { algorand?: { indexer?: { token?: unknown }[] } } };
  const { token } = chains?.algorand?.indexer?.find((one) => isNode(one, node.url)) ?? {};
  if (token === undefined) return node;
  const { referredValue } = await import("@attestd/service/operator");
  return { ...node, token: referredValue(token, settings) };
}

/** @returns the result in words */
async function compareWithLedger(history: KeyHistory, from: string, indexer: Node | undefined): Promise<string> {
  if (indexer === undefined) return "not compared with the ledger (--indexer URL)";
  const differences = checkKeyNotes(history, await recordedKeyNotes(indexer, history));
  if (differences.length > 0) throw refused(from, differences.map(fault));
  return "the ledger has a note of every key after the first and of every revocation, and no other";
}

/** Saves a history to a file. An earlier copy there is replaced only if the history continues it. */
async function saveHistory(history: KeyHistory, from: string, path: string): Promise<string> {
  const isThere = existsSync(path);
  const why = isThere && breakBetween((await readKeys(path)).trust, history);
  if (why) throw refused(from, [`It does not continue the one in ${path}, which is unchanged.`, fault(why)], why);
  const failure = failsFor(EXIT.usage, `write ${path}`, "folder", "Choose another file: --save.");
  await writeAtomically(path, `${JSON.stringify(history)}\n`, 0o644).catch(failure);
  return isThere ? `continues the earlier copy, saved ${path}` : `saved ${path}`;
}

function refused(from: string, why: string[], cause?: unknown): Failure {
  return new Failure(EXIT.notVerified, `the key history of ${from} is refused`, why, cause);
}

function print({ ledger, keys }: KeyHistory, out: Terminal, results: string[]): void {
  const origin = keys.at(-1)?.origin ?? "";
  out.marked("ok", `${keys.length} ${keys.length === 1 ? "key" : "keys"} of ${hostOf(origin)}`);
  out.line(`  ledger   ${ledger}`);
  for (const key of keys.toReversed()) {
    out.line(`  ${keyStatusOf(key).padEnd(7)}  ${key.kid}`);
    out.line(`           ${spanOf(key)}`);
  }
  for (const line of results) out.line(`  ${line}`);
}

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
async function recordedKeyNotes(indexer: Node, { ledger, keys }: KeyHistory): Promise<RecordedNote[]> {
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

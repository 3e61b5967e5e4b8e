import { existsSync } from "node:fs";
import { checkKeyNotes, isProofError, type KeyHistory, keyStatusOf, parseJson, parseKeyHistory } from "@attestd/proof";
import { hostOf } from "@attestd/web/printable";
import { breakBetween } from "@attestd/web/trust-basis";
import { EXIT, type ExitCode, Failure, failsFor } from "../../failure.ts";
import { writeAtomically } from "../../files/files.ts";
import { operate } from "../../operator/operate.ts";
import { readSettings } from "../../operator/settings.ts";
import type { SettingsOptions } from "../../options.ts";
import type { Environment } from "../../terminal/environment.ts";
import type { Terminal } from "../../terminal/terminal.ts";
import { fault, readKeys, servedKeys, spanOf } from "../../trust/keys.ts";
import { type Node, namedNode } from "../../trust/nodes.ts";
import { runningSandbox } from "../../trust/sandbox-folder.ts";
import { recordedKeyNotes } from "./ledger-notes.ts";

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
  const { service, keys, env, sandbox } = options;
  if (keys !== undefined) return { history: (await readKeys(keys)).trust, from: keys };
  if (env !== undefined || sandbox) {
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
  throw new Failure(EXIT.usage, "whose key history?", ["Name it: --service URL, --keys FILE or --env FILE."]);
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
  const { INDEXER_URL, INDEXER_TOKEN } = await readSettings(options, environment);
  const { href } = new URL(node.url);
  const at = INDEXER_URL?.split(",").findIndex((one) => URL.parse(one.trim())?.href === href) ?? -1;
  const token = INDEXER_TOKEN?.split(",")[at]?.trim();
  return token === undefined ? node : { ...node, token };
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

import { excerpt } from "@attestd/proof/text";
import { MAX_BATCH_FILE_BYTES } from "@attestd/web/bundle-file";
import { printable } from "@attestd/web/printable";
import { EXIT, type ExitCode, worst } from "../../failure.ts";
import { nothingIn, readSource, type Source, sourcesOf } from "../../files/sources.ts";
import type { Environment } from "../../terminal/environment.ts";
import type { Terminal } from "../../terminal/terminal.ts";
import { explain } from "./explain.ts";
import type { Inspection } from "./rows.ts";

/** The most characters of a value that are shown: a stranger may have written it. */
const MAX_SHOWN = 1000;
/** The last line of every explanation: an explanation is no verdict. */
const NO_VERDICT = "Not verified: inspect explains, verify checks.";
/** Follows the error about a file of an unknown kind. */
const KNOWN_KINDS =
  "inspect explains bundles, batches, certificates, receipts, key histories, evidence, checkpoints, payment headers and notes.";

/**
 * Explains files, one after another: what each is, and what its parts say. Nothing is verified.
 *
 * @param names files, folders, URLs; `-` is standard input
 * @returns for several files: unreadable before unreachable
 */
export async function inspectFiles(
  names: string[],
  { json }: { json?: boolean },
  environment: Environment,
): Promise<ExitCode> {
  const sources = await sourcesOf(names);
  const codes: ExitCode[] = [];
  for (const source of sources) codes.push(await inspectOne(source, json, environment));
  if (sources.length === 0) throw nothingIn(names, 0);
  return worst(codes);
}

async function inspectOne(source: Source, json: boolean | undefined, environment: Environment): Promise<ExitCode> {
  const { out, err } = environment;
  const { name: file, isFound } = source;
  const content = await readSource(source, () => environment.stdin, MAX_BATCH_FILE_BYTES);
  const explained = Buffer.isBuffer(content) ? await explain(content) : content;
  if ("rows" in explained) {
    if (json) out.json({ file, kind: explained.kind, verified: null, ...explained.value });
    else print(file, explained, out);
    return EXIT.good;
  }
  const { why } = explained;
  const isUnknown = explained.kind === "unknown";
  // A folder may contain files of other kinds.
  if (isFound && isUnknown) return EXIT.good;
  if (json) {
    err.line(`attestd: can't read ${file}: ${why}`);
    out.json({ file, unreadable: printable(why) });
  } else {
    out.marked("fail", `Can't read  ${file}`);
    for (const line of [why, ...(isUnknown ? [KNOWN_KINDS] : [])]) out.line(`  ${line}`);
  }
  return "exitCode" in explained ? explained.exitCode : EXIT.unreadable;
}

function print(file: string, { title, rows, remarks }: Inspection, out: Terminal): void {
  out.line(`${title}  ${file}`);
  const width = Math.max(...rows.map(([label]) => label.length));
  for (const [label, value] of rows) out.line(`  ${label.padEnd(width)}  ${excerpt(value, MAX_SHOWN)}`);
  for (const remark of remarks) out.line(`  ${excerpt(remark, MAX_SHOWN)}`);
  out.line(`  ${NO_VERDICT}`);
}

import { excerpt } from "@attestd/proof/text";
import { MAX_BATCH_FILE_BYTES } from "@attestd/web/bundle-file";
import { printable } from "@attestd/web/printable";
import type { Environment } from "../environment.ts";
import { EXIT, type ExitCode, Failure, worst } from "../failure.ts";
import { inspectBytes, UNKNOWN } from "../inspection.ts";
import type { Inspection } from "../inspection-rows.ts";
import { nothingIn, readSource, type Source, sourcesOf } from "../sources.ts";
import type { Terminal } from "../terminal.ts";

/** The most characters of a value that are shown: a stranger may have written it. */
const MAX_SHOWN = 1000;
/** The last line of every explanation: an explanation is no verdict. */
const NO_VERDICT = "Not verified: inspect explains, verify checks.";

/**
 * Explains files, one after another: what each is, and what its parts say. Nothing is verified.
 *
 * @param names files, folders, URLs; `-` is standard input
 * @returns for several files: unreadable before unreachable
 */
export async function inspect(
  names: string[],
  { json }: { json?: boolean },
  environment: Environment,
): Promise<ExitCode> {
  const sources = await sourcesOf(names);
  const codes: number[] = [];
  for (const source of sources) codes.push(await inspectOne(source, json, environment));
  if (sources.length === 0) throw nothingIn(names, 0);
  return worst(codes);
}

async function inspectOne(source: Source, json: boolean | undefined, environment: Environment): Promise<number> {
  const { out, err } = environment;
  const file = source.name;
  try {
    const inspection = await inspectBytes(await readSource(source, () => environment.stdin, MAX_BATCH_FILE_BYTES));
    if (json) out.json({ file, kind: inspection.kind, verified: null, ...inspection.value });
    else print(file, inspection, out);
    return EXIT.good;
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    // A folder has other things beside.
    if (source.isFound && error.more === UNKNOWN) return EXIT.good;
    if (json) {
      err.line(`attestd: can't read ${file}: ${error.message}`);
      out.json({ file, unreadable: printable(error.message) });
    } else {
      out.marked("fail", `Can't read  ${file}`);
      for (const line of [error.message, ...error.more]) out.line(`  ${line}`);
    }
    return error.exitCode;
  }
}

function print(file: string, { title, rows, remarks }: Inspection, out: Terminal): void {
  out.line(`${title}  ${file}`);
  const width = Math.max(...rows.map(([label]) => label.length));
  for (const [label, value] of rows) out.line(`  ${label.padEnd(width)}  ${excerpt(value, MAX_SHOWN)}`);
  for (const remark of remarks) out.line(`  ${excerpt(remark, MAX_SHOWN)}`);
  out.line(`  ${NO_VERDICT}`);
}

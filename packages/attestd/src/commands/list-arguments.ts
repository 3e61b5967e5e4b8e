import type { Listed } from "@attestd/web/id-list";
import type { Environment } from "../environment.ts";
import { EXIT, Failure, failsFor } from "../failure.ts";
import { collect, readNamed, textOf } from "../files.ts";
import { readIdList } from "../id-list.ts";

const MAX_LIST_BYTES = 16 * 1024 * 1024;

/** Whether a list is to be attested. @throws Failure `usage` when the arguments do not go together */
export function checkListOptions(txid: string | undefined, options: Record<string, unknown>): boolean {
  const ofList = ["column", "batchSize", "yes"].filter((name) => options[name] !== undefined);
  const ofOne = ["chain", "wait", "evidence", "json"].filter((name) => options[name] !== undefined);
  const flag = (name: string) => `--${name.replace(/[A-Z]/, (letter) => `-${letter.toLowerCase()}`)}`;
  if (options.file === undefined && txid === undefined)
    throw new Failure(EXIT.usage, "no transaction is named", ["Name its id, or a list of them: --file list.txt."]);
  if (options.file === undefined && ofList.length > 0)
    throw new Failure(EXIT.usage, `${ofList.map(flag).join(" and ")} only goes with --file`);
  if (options.file !== undefined && (txid !== undefined || ofOne.length > 0)) {
    const others = txid === undefined ? ofOne.map(flag).join(" and ") : "a transaction id";
    throw new Failure(EXIT.usage, `${others} does not go with --file`);
  }
  return options.file !== undefined;
}

/** Reads the list of transactions that `--file` names. @throws Failure */
export async function readList(
  file: string,
  column: string | undefined,
  environment: Environment,
  signal: AbortSignal,
): Promise<Listed[]> {
  const action = `read ${file}`;
  const reading =
    file === "-"
      ? collect(environment.stdin, MAX_LIST_BYTES, signal)
      : readNamed(file, MAX_LIST_BYTES, signal).then(({ bytes }) => bytes);
  const bytes = await reading.catch((error: unknown) => {
    if (error instanceof Failure) throw error;
    return failsFor(EXIT.unreadable, action)(error);
  });
  return readIdList(textOf(bytes, EXIT.unreadable, action), file, column);
}

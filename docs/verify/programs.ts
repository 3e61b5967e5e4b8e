import { execFile, spawn } from "node:child_process";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import {
  type CheckName,
  type KeyStatus,
  type ReceiptStatus,
  type Statement,
  verify,
  type Warning,
} from "@attestd/proof";
import { fileText, utf8 } from "@attestd/proof/encoding";

/* The independent verifiers of this folder, as programs that tests run. */

export type Ended = { code: number; stdout: string; stderr: string };

// Python would write compiled modules into this folder, and an older Go would fetch another one.
const env = { ...process.env, PYTHONDONTWRITEBYTECODE: "1", GOTOOLCHAIN: "local" };

/** Runs a command to its end, whatever that is. */
export async function run(command: string, args: string[], cwd = import.meta.dirname, timeout = 0): Promise<Ended> {
  try {
    return { code: 0, ...(await promisify(execFile)(command, args, { cwd, env, timeout, maxBuffer: 2 ** 24 })) };
  } catch (error) {
    const { code, stdout = "", stderr = "" } = error as { code?: number | string; stdout?: string; stderr?: string };
    return { code: typeof code === "number" ? code : 127, stdout, stderr: stderr || String(error) };
  }
}

/** A verifier that can be run here, or why it cannot. */
export type Program = { command: string; args: string[] } | { missing: string };

/** What a verifier answers to a list of arguments: the exit code is undefined where it ended before. */
export type Answer = { code: number | undefined; stdout: string };

/** Gives a verifier many lists of arguments in one process. @returns its answers, in their order */
export async function runAll(
  { command, args }: Exclude<Program, { missing: string }>,
  lists: readonly (readonly string[])[],
  timeout = 0,
): Promise<{ answers: Answer[]; stderr: string }> {
  const child = spawn(command, [...args, "-"], { cwd: import.meta.dirname, env, timeout });
  child.stdin.on("error", () => undefined); // One that ended reads no more; its answers show that.
  child.stdin.end(lists.map((list) => `${JSON.stringify(list)}\n`).join(""));
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  const parts = stdout.split(/^exit (\d+)\n/m);
  const answers = lists.map((_, index): Answer => {
    const code = parts[2 * index + 1];
    return { code: code === undefined ? undefined : Number(code), stdout: parts[2 * index] ?? "" };
  });
  return { answers, stderr: child.killed ? `killed after ${timeout / 1000} s` : stderr };
}

async function python(): Promise<Program> {
  const { code, stderr } = await run("python3", ["-c", "from cryptography.hazmat.primitives.asymmetric import mldsa"]);
  if (code !== 0) return { missing: `python3 has no ML-DSA; pip install 'cryptography>=48' (${lastLine(stderr)})` };
  return { command: "python3", args: ["python/verify.py"] };
}

/** Built into a folder: what a reader does by `go run`, without its start each time. */
async function go(folder: string): Promise<Program> {
  const home = join(import.meta.dirname, "go");
  const modules = await run("go", ["mod", "download"], home, 30_000);
  if (modules.code !== 0) return { missing: `go, or its modules, cannot be had (${lastLine(modules.stderr)})` };
  const command = join(folder, "verify-go");
  const built = await run("go", ["build", "-o", command, "."], home);
  if (built.code !== 0) throw new Error(built.stderr);
  return { command, args: [] };
}

const lastLine = (text: string) => text.trim().split("\n").at(-1);

/** By their languages. Each is given a folder for what it builds. */
export const PROGRAMS: Record<string, (folder: string) => Promise<Program>> = {
  JavaScript: async () => ({ command: process.execPath, args: ["javascript/verify.mjs"] }),
  Python: python,
  Go: go,
};

export type Verdict = {
  failed: CheckName[];
  status: KeyStatus | undefined;
  warnings: Warning[];
  /** What became of the transaction, where `inclusion` passes and the bundle has a receipt. */
  receipt?: ReceiptStatus | undefined;
  /** What the note of a transaction states, where `note` passes. */
  statement?: Statement | undefined;
};

/** What a verifier prints of a statement. */
export function statedLine({ block: { hash, height, time }, outcome }: Statement): string {
  return `states ${hash} ${height} ${time} ${outcome}`;
}

/** The round of the record, of an item of a batch that of its head. */
function roundOf(text: string): number {
  const { attest, batch } = JSON.parse(fileText(utf8(text)));
  return (batch?.attest ?? attest).round;
}

/** What a verifier prints of a bundle. */
export function printed(
  file: string,
  text: string,
  { failed, status, warnings, receipt, statement }: Verdict,
): string[] {
  if (failed.includes("schema")) return [file, "FAIL schema", "not verified"];
  const { attestor, checks, lightHeader } = verify(utf8(text));
  const offline = (Object.keys(checks) as CheckName[]).filter((check) => !check.startsWith("chain"));
  const results = offline.map((check) => `${failed.includes(check) ? "FAIL" : "pass"} ${check}`);
  const record = `verified, stated as recorded on Algorand in round ${roundOf(text)}`;
  const verdict = failed.length > 0 ? ["not verified"] : [...warnings.map((warning) => `warning ${warning}`), record];
  if (lightHeader) results.push(`${lightHeader} commitment`);
  if (receipt) results.push(`receipt ${receipt}`);
  if (statement) results.push(statedLine(statement));
  return [file, ...results, `key ${attestor.kid} ${status}`, ...verdict];
}

import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Trust } from "@attestd/proof";
import * as ours from "@attestd/proof";
import { nativeCrypto } from "../../../packages/proof/test/native-crypto.ts";
import { type Program, run, statedLine } from "../programs.ts";
import type { Batch } from "./cases.ts";

/** What a verifier says of each bundle of a batch, line by line but for the file's name. */
export type Verifier = (batch: Batch) => Promise<string[]>;

type Proof = Pick<typeof ours, "ProofError" | "parseJson" | "parseKeyHistory" | "verify">;

/** Of keys that are refused, and of all that is judged by them. */
export const NOTHING = "nothing";

/** The library, in the words of the programs. @param proof of which it is, where it is an altered one */
export function library(proof: Proof = ours): Verifier {
  const { ProofError, parseKeyHistory } = proof;
  const isRefusal = (error: unknown) => error instanceof ProofError && error.code !== "malformed";
  return async ({ keys, bundles }) => {
    let trust: Trust;
    try {
      trust = typeof keys.trust === "string" ? { kids: [keys.trust] } : parseKeyHistory(keys.trust, nativeCrypto);
    } catch (error) {
      return bundles.map(() => (isRefusal(error) ? NOTHING : `crashed: ${error}`));
    }
    return bundles.map((bytes) => {
      try {
        return said(proof, bytes, trust);
      } catch (error) {
        return isRefusal(error) ? REFUSED : `crashed: ${error}`;
      }
    });
  };
}

const REFUSED = "FAIL schema\nnot verified";

function said({ verify, parseJson }: Proof, bytes: Uint8Array, trust: Trust): string {
  const report = verify(bytes, { trust, crypto: nativeCrypto });
  const { checks, verified, attestor, warnings, lightHeader, receipt, statement } = report;
  if (checks.schema === "fail") return REFUSED;
  const offline = Object.entries(checks).filter(([check]) => !check.startsWith("chain"));
  const { attest } = parseJson(bytes) as { attest: { round: number } };
  return [
    ...offline.map(([check, result]) => `${result === "fail" ? "FAIL" : result} ${check}`),
    ...(lightHeader ? [`${lightHeader} commitment`] : []),
    ...(receipt ? [`receipt ${receipt.status}`] : []),
    ...(statement && checks.note === "pass" ? [statedLine(statement)] : []),
    `key ${attestor.kid} ${attestor.status}`,
    ...(verified ? warnings.map((warning) => `warning ${warning}`) : []),
    verified ? `verified, stated as recorded on Algorand in round ${attest.round}` : "not verified",
  ].join("\n");
}

/** No bundle takes longer, on a busy machine neither. */
const TIMEOUT = 120_000;

/** A program, given all bundles of a batch at once, and again those behind one by which it ends. @param folder for files */
export function program({ command, args }: Exclude<Program, { missing: string }>, folder: string): Verifier {
  let batches = 0;
  return async ({ keys, bundles }) => {
    const home = join(folder, `${command}${args.join("")}`.replaceAll(/\W/g, ""), String(batches++));
    mkdirSync(home, { recursive: true });
    const files = bundles.map((_, index) => join(home, `${index}.json`));
    for (const [index, file] of files.entries()) writeFileSync(file, bundles[index] as Uint8Array);
    const blank = join(home, "blank.json");
    writeFileSync(blank, "{}");
    const trust = typeof keys.trust === "string" ? keys.trust : join(home, "keys.json");
    if (typeof keys.trust !== "string") writeFileSync(trust, keys.trust);
    const outputs: string[] = [];
    while (outputs.length < files.length) {
      const rest = files.slice(outputs.length);
      const { code, stdout, stderr } = await run(command, [...args, ...rest, trust], undefined, TIMEOUT);
      const found = outputsOf(stdout, rest);
      outputs.push(...found.map((output) => (isExit(code, found, rest) ? output : `${output}\nexit code ${code}`)));
      if (found.length === rest.length) continue;
      // A program that does not take the keys says nothing of any bundle, of one that is none neither.
      const areRefused = outputs.length === 0 && (await run(command, [...args, blank, trust])).stdout === "";
      if (areRefused) return files.map(() => NOTHING);
      const reason = stderr.trim().split("\n").at(-1)?.slice(0, 500);
      outputs.push(`crashed: exit code ${code}: ${reason}`);
    }
    rmSync(home, { recursive: true });
    return outputs;
  };
}

/** Whether the exit code is the right one of what was printed; a program that crashed has another. */
function isExit(code: number, found: string[], files: string[]): boolean {
  if (found.length < files.length) return code !== 0;
  return code === (found.every((output) => output.includes("\nverified, ")) ? 0 : 1);
}

/** What was printed behind each file's name, of the files whose verdict was printed. */
function outputsOf(stdout: string, files: string[]): string[] {
  const outputs: string[] = [];
  let rest = stdout;
  for (const [index, file] of files.entries()) {
    if (!rest.startsWith(`${file}\n`)) break;
    const next = files[index + 1];
    const end = next === undefined ? rest.length : rest.indexOf(`\n${next}\n`) + 1;
    const output = rest.slice(file.length + 1, end || rest.length).trimEnd();
    if (!/(^|\n)(not verified|verified, .*)$/.test(output)) break;
    outputs.push(output);
    rest = end === 0 ? "" : rest.slice(end);
  }
  return outputs;
}

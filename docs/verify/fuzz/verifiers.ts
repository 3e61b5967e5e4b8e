import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Trust } from "@attestd/proof";
import * as ours from "@attestd/proof";
import type { Checkpoint } from "@attestd/proof/state-proof";
import { nativeCrypto } from "../../../packages/proof/test/native-crypto.ts";
import { type Beside, type Proof, saidOf } from "../library.ts";
import { type Program, runAll } from "../programs.ts";
import type { Task } from "./tasks.ts";

export type Verifier = {
  /** What is said of each task, with `FILE` for the name of the file. */
  judge(tasks: readonly Task[]): Promise<string[]>;
  /** One without Falcon checks no state proof, and no account's signature by Falcon. */
  hasFalcon: boolean;
};

/** Of keys that are refused. */
const NOTHING = "nothing";

/**
 * The library, in the words of the programs.
 * @param proof another library
 * @param hasFalcon whether it checks state proofs
 */
export function library(proof: Proof & Pick<typeof ours, "parseKeyHistory"> = ours, hasFalcon = true): Verifier {
  const trusts = new Map<Task["keys"], Trust | undefined>();
  const trustOf = (keys: Task["keys"]) => {
    if (typeof keys === "string") return { kids: [keys] };
    try {
      return proof.parseKeyHistory(keys, nativeCrypto);
    } catch (error) {
      if (isRefusal(proof, error)) return undefined;
      throw error;
    }
  };
  const judge = (tasks: readonly Task[]) =>
    tasks.map(({ keys, subject, evidence }) => {
      try {
        if (!trusts.has(keys)) trusts.set(keys, trustOf(keys));
        const trust = trusts.get(keys);
        if (trust === undefined) return NOTHING;
        return saidOf("FILE", subject, trust, evidence && besideOf(evidence, hasFalcon), proof);
      } catch (error) {
        return `crashed: ${error}`;
      }
    });
  return { judge: async (tasks) => judge(tasks), hasFalcon };
}

/** Says of every state proof that it was found right before: then only its checkpoint is open. */
const UNCHECKED = Object.assign(new Map<string, undefined>(), { has: () => true });

function besideOf({ bytes, trusted }: NonNullable<Task["evidence"]>, hasFalcon: boolean): Beside {
  if (!hasFalcon) return { evidence: bytes, options: { memory: UNCHECKED } };
  const options =
    typeof trusted === "string"
      ? { roots: [trusted] }
      : { checkpoints: [ours.parseJson(trusted) as unknown as Checkpoint] };
  return { evidence: bytes, options };
}

function isRefusal({ ProofError }: Proof, error: unknown): boolean {
  return error instanceof ProofError && error.code !== "malformed";
}

/** No process takes longer for its tasks, on a busy machine neither. */
const TIMEOUT = 1_800_000;

/**
 * A program, which is given all tasks at once, and again those behind one by which it ends.
 * @param folder for files
 * @param hasFalcon whether it takes what is trusted behind evidence
 */
export function program(found: Exclude<Program, { missing: string }>, folder: string, hasFalcon: boolean): Verifier {
  let rounds = 0;
  async function judge(tasks: readonly Task[]): Promise<string[]> {
    const home = join(folder, `${found.command}${found.args.join("")}`.replaceAll(/\W/g, ""), String(rounds++));
    mkdirSync(home, { recursive: true });
    const files = writer(home);
    const named: string[] = [];
    const lists = tasks.map(({ keys, subject, evidence }, index) => {
      const subjectFile = files(`${index}.json`, subject);
      named.push(subjectFile);
      const trust = typeof keys === "string" ? keys : files("keys.json", keys);
      if (evidence === undefined) return [subjectFile, trust];
      const { bytes, trusted } = evidence;
      const checkpoint = typeof trusted === "string" ? trusted : files("checkpoint.json", trusted);
      const beside = ["--evidence", files(`${index}.evidence.json`, bytes), ...(hasFalcon ? [checkpoint] : [])];
      return [...beside, subjectFile, trust];
    });
    const said: string[] = [];
    while (said.length < tasks.length) {
      const { answers, stderr } = await runAll(found, lists.slice(said.length), TIMEOUT);
      for (const { code, stdout } of answers) {
        if (code === undefined) {
          said.push(`crashed: ${stderr.trim().split("\n").at(-1)?.slice(0, 500)}`);
          break;
        }
        said.push(wordsOf(code, stdout, named[said.length] as string));
      }
    }
    rmSync(home, { recursive: true });
    return said;
  }
  return { judge, hasFalcon };
}

/** Writes each content once, under the name that it was first given. */
function writer(home: string) {
  const written = new Map<Uint8Array, string>();
  return (name: string, content: Uint8Array): string => {
    const known = written.get(content);
    if (known !== undefined) return known;
    const file = join(home, `${written.size}-${name}`);
    writeFileSync(file, content);
    written.set(content, file);
    return file;
  };
}

/** An output with `FILE` for the file's name, and the exit code where it is not the right one. */
function wordsOf(code: number, stdout: string, file: string): string {
  if (stdout === "" && code === 1) return NOTHING;
  const said = stdout.replaceAll(file, "FILE").trimEnd();
  const verdicts = said.split("\n").filter((line) => line === "not verified" || line.startsWith("verified, "));
  const right = verdicts.length > 0 && verdicts.every((line) => line !== "not verified") ? 0 : 1;
  return code === right ? said : `${said}\nexit code ${code}`;
}

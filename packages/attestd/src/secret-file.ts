import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, open, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { EXIT, Failure, failsFor } from "./failure.ts";
import { readText } from "./files.ts";

/**
 * Writes a secret durably to a new file that only its owner can read.
 * @param option that chose the path. @throws Failure `usage` when the file cannot be created, or exists
 */
export async function writeSecret(path: string, secret: string, option: string): Promise<void> {
  const folder = dirname(path);
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await writeFile(path, `${secret}\n`, { mode: 0o600, flag: "wx", flush: true });
    await using directory = await open(folder);
    await directory.sync();
  } catch (error) {
    failsFor(EXIT.usage, `create ${path}`, "file", `Choose another file: ${option}.`)(error);
  }
}

/**
 * Makes sure that a file has an ML-DSA-65 seed, 32 bytes in hex; if the file does not exist, it is created with a new one.
 * @param option that chose the file. @throws Failure `usage` when the file has no seed, or cannot be read or created
 */
export async function requireSeed(path: string, option: string): Promise<void> {
  const text = existsSync(path) ? await readText(path, EXIT.usage) : undefined;
  if (text === undefined) return writeSecret(path, randomBytes(32).toString("hex"), option);
  if (!/^[0-9a-fA-F]{64}$/.test(text.trim()))
    throw new Failure(EXIT.usage, `${path} has no seed`, ["A seed is 32 bytes in hex. Choose a new file."]);
}

/** The token in a file of one line. @throws Failure `usage` when the file has no token, or cannot be read */
export async function tokenIn(path: string): Promise<string> {
  const text = await readText(path, EXIT.usage);
  // Only characters that a header may have (RFC 9110): an error about others would print the token.
  if (/^[\x21-\x7e]+$/.test(text.trim())) return text.trim();
  throw new Failure(EXIT.usage, `${path} has no token`, ["A token is one line, without blanks."]);
}

import { randomBytes } from "node:crypto";
import { mkdir, open, readFile, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { EXIT, Failure, fileTrouble } from "./failure.ts";

/**
 * Writes a secret to a new file that only its owner can read; it survives the loss of power once this resolves.
 *
 * @param option by which the place was chosen
 * @throws Failure `usage` when it cannot be made, or something is there already
 */
export async function writeSecret(path: string, secret: string, option: string): Promise<void> {
  const folder = dirname(path);
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await writeFile(path, `${secret}\n`, { mode: 0o600, flag: "wx", flush: true });
    await using directory = await open(folder);
    await directory.sync();
  } catch (error) {
    throw new Failure(
      EXIT.usage,
      `can't make ${path}`,
      [fileTrouble(error), `Choose another place: ${option}.`],
      error,
    );
  }
}

/**
 * The ML-DSA-65 seed in a file; one is drawn and kept there where no such file is.
 *
 * @param option by which the file was chosen
 * @returns 32 bytes
 * @throws Failure `usage` when the file holds none, or cannot be read or made
 */
export async function seedIn(path: string, option: string): Promise<Uint8Array> {
  const text = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw new Failure(EXIT.usage, `can't read ${path}`, [fileTrouble(error)], error);
  });
  if (text !== undefined) {
    if (/^[0-9a-fA-F]{64}$/.test(text.trim())) return Uint8Array.fromHex(text.trim());
    throw new Failure(EXIT.usage, `${path} holds no seed`, [
      "A seed is 32 bytes in hex. Name a file that is not there.",
    ]);
  }
  const seed = randomBytes(32);
  await writeSecret(path, seed.toString("hex"), option);
  return seed;
}

/**
 * The token in a file, of one line.
 *
 * @throws Failure `usage` when the file holds none, or cannot be read
 */
export async function tokenIn(path: string): Promise<string> {
  const text = await readFile(path, "utf8").catch((error: unknown) => {
    throw new Failure(EXIT.usage, `can't read ${path}`, [fileTrouble(error)], error);
  });
  // What a header takes (RFC 9110): an error about another would show it.
  if (/^[\x21-\x7e]+$/.test(text.trim())) return text.trim();
  throw new Failure(EXIT.usage, `${path} holds no token`, ["A token is one line, without blanks."]);
}

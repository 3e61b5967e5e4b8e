import { randomBytes } from "node:crypto";
import { open, readFile, rename, unlink } from "node:fs/promises";
import { EXIT, Failure, fileTrouble } from "./failure.ts";

/**
 * Writes a file so that whoever reads it sees all of it or what stood there before, also after a power cut.
 *
 * @param mode permissions of a new file
 */
export async function writeWhole(path: string, data: string | Uint8Array, mode: number): Promise<void> {
  const draft = `${path}.${randomBytes(6).toString("hex")}`;
  const file = await open(draft, "wx", mode);
  try {
    await file.writeFile(data);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(draft, path).catch(async (error: unknown) => {
    await unlink(draft);
    throw error;
  });
}

/**
 * Reads a JSON object that an option named.
 *
 * @throws Failure `unreadable`
 */
export async function readJsonObject(path: string): Promise<Record<string, unknown>> {
  const text = await readFile(path, "utf8").catch((error: unknown) => {
    throw new Failure(EXIT.unreadable, `can't read ${path}`, [fileTrouble(error)]);
  });
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new Failure(EXIT.unreadable, `can't read ${path}`, [`It is not JSON: ${(error as Error).message}.`]);
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new Failure(EXIT.unreadable, `can't read ${path}`, ["It is not a JSON object."]);
  }
  return value as Record<string, unknown>;
}

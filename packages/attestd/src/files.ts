import { randomBytes } from "node:crypto";
import { readFile, rename, unlink, writeFile } from "node:fs/promises";
import { EXIT, Failure, failsFor } from "./failure.ts";

/** Writes a file atomically and durably: readers see either the old or the new content, also after a power cut. */
export async function writeWhole(path: string, data: string | Uint8Array, mode: number): Promise<void> {
  const draft = `${path}.${randomBytes(6).toString("hex")}`;
  await writeFile(draft, data, { mode, flag: "wx", flush: true });
  await rename(draft, path).catch(async (error: unknown) => {
    await unlink(draft);
    throw error;
  });
}

/** Reads a JSON object from a file. @throws Failure `unreadable` */
export async function readJsonObject(path: string): Promise<Record<string, unknown>> {
  const text = await readFile(path, "utf8").catch(failsFor(EXIT.unreadable, `read ${path}`));
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

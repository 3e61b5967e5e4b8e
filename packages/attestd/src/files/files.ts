import { randomBytes } from "node:crypto";
import { existsSync, fstatSync } from "node:fs";
import { mkdir, open, rename, unlink, writeFile } from "node:fs/promises";
import { Socket } from "node:net";
import { dirname } from "node:path";
import { addAbortSignal, type Readable } from "node:stream";
import { isProofError } from "@attestd/proof";
import { fileText } from "@attestd/proof/encoding";
import { FileRefusal, readRegularFile } from "@attestd/service/regular-file";
import { EXIT, type ExitCode, Failure, failsFor } from "../failure.ts";

/** For a JSON file of the user: a wallet, or the description of a sandbox. */
const MAX_OBJECT_BYTES = 2 ** 20;
/** For settings, a token or a seed. */
const MAX_TEXT_BYTES = 2 ** 18;

/** Writes a file atomically and durably: readers see either the old or the new content, also after a power cut. */
export async function writeAtomically(path: string, data: string | Uint8Array, mode: number): Promise<void> {
  const draft = `${path}.${randomBytes(6).toString("hex")}`;
  await writeFile(draft, data, { mode, flag: "wx", flush: true });
  await rename(draft, path).catch(async (error: unknown) => {
    await unlink(draft);
    throw error;
  });
}

/**
 * Writes a secret durably to a new file that only its owner can read.
 * @param option the option that chose the path. @throws Failure `usage` when the file cannot be created, or exists
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
 * Makes sure that a file has an ML-DSA-65 seed, 32 bytes in hex. A file that does not exist is created with a new seed.
 * @param option the option that chose the file
 * @throws Failure `usage` when the file has no seed, or cannot be read or created
 */
export async function requireSeed(path: string, option: string): Promise<void> {
  const text = existsSync(path) ? await readText(path, EXIT.usage) : undefined;
  if (text === undefined) return writeSecret(path, randomBytes(32).toString("hex"), option);
  if (!/^[0-9a-fA-F]{64}$/.test(text.trim()))
    throw new Failure(EXIT.usage, `${path} has no seed`, ["A seed is 32 bytes in hex. Choose a new file."]);
}

/**
 * Reads a file that the user named. It is a regular file, or what the shell passes to the command: `/dev/stdin`, or the pipe
 * of `<(…)`. Other pipes and devices are refused, because `*.json` also names the files of a stranger's folder.
 *
 * @param signal ends the wait for a pipe
 * @returns the bytes, and when they were written, in milliseconds of Unix time
 * @throws FileRefusal, Failure `interrupted`, or the system's error
 */
export async function readNamed(path: string, maxBytes: number, signal?: AbortSignal) {
  const descriptor = /^\/(?:dev\/fd|proc\/self\/fd)\/(\d{1,9})$/.exec(path)?.[1] ?? (path === "/dev/stdin" ? "0" : "");
  if (descriptor === "") return readRegularFile(path, { maxBytes });
  const fd = Number(descriptor);
  const stats = fstatSync(fd);
  if (!stats.isFIFO() && !stats.isSocket()) return readRegularFile(path, { maxBytes });
  // A socket of Node reads a pipe without a thread that would keep the process from ending.
  const pipe = new Socket({ fd, readable: true, writable: false });
  return { bytes: await collect(pipe, maxBytes, signal), writtenMs: stats.mtimeMs };
}

/**
 * Reads a file that the user did not name: one next to another file, or in a folder. Only a regular file is read, and no link.
 * @returns undefined when there is no such file
 * @throws FileRefusal, or the system's error
 */
export function readFound(path: string, maxBytes: number): Buffer | undefined {
  try {
    return readRegularFile(path, { maxBytes, isFound: true }).bytes;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

/** Reads a stream to its end. @throws FileRefusal when it has more bytes; Failure `interrupted` */
export async function collect(
  from: AsyncIterable<Uint8Array | string>,
  maxBytes: number,
  signal?: AbortSignal,
): Promise<Buffer> {
  if (signal) addAbortSignal(signal, from as Readable);
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of from) {
      chunks.push(Buffer.from(chunk as Uint8Array));
      size += chunk.length;
      if (size > maxBytes) throw new FileRefusal("TOO_LARGE", `It has more than ${maxBytes} bytes.`, size);
    }
  } catch (error) {
    if (signal?.aborted) throw new Failure(EXIT.interrupted, "interrupted", [], error);
    throw error;
  }
  return Buffer.concat(chunks);
}

/** Reads the text of a file that the user named, without a byte order mark. @throws Failure with the exit code */
export async function readText(path: string, exitCode: ExitCode, action = `read ${path}`): Promise<string> {
  const { bytes } = await readNamed(path, MAX_TEXT_BYTES).catch(failsFor(exitCode, action));
  return textOf(bytes, exitCode, action);
}

function found(path: string, maxBytes: number, exitCode: ExitCode, action: string): Buffer | undefined {
  try {
    return readFound(path, maxBytes);
  } catch (error) {
    return failsFor(exitCode, action)(error);
  }
}

/** The text of a file, without a byte order mark. @throws Failure with the exit code; its message names UTF-16 */
export function textOf(bytes: Uint8Array, exitCode: ExitCode, action: string): string {
  try {
    return fileText(bytes);
  } catch (error) {
    if (!isProofError(error, "malformed")) throw error;
    throw new Failure(exitCode, `can't ${action}`, [`${error.message[0]?.toUpperCase()}${error.message.slice(1)}.`]);
  }
}

/** Reads a JSON object from a file that the user named. @throws Failure `unreadable` */
export async function readJsonObject(path: string): Promise<Record<string, unknown>> {
  const { bytes } = await readNamed(path, MAX_OBJECT_BYTES).catch(failsFor(EXIT.unreadable, `read ${path}`));
  return objectIn(bytes, path);
}

/** Reads a JSON object from a file that the user did not name. @returns undefined without a file. @throws Failure `unreadable` */
export function foundJsonObject(path: string, maxBytes = MAX_OBJECT_BYTES): Record<string, unknown> | undefined {
  const bytes = found(path, maxBytes, EXIT.unreadable, `read ${path}`);
  return bytes && objectIn(bytes, path);
}

function objectIn(bytes: Uint8Array, path: string): Record<string, unknown> {
  const text = textOf(bytes, EXIT.unreadable, `read ${path}`);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new Failure(EXIT.unreadable, `can't read ${path}`, [`It is not JSON: ${(error as Error).message}.`]);
  }
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new Failure(EXIT.unreadable, `can't read ${path}`, ["It is not a JSON object."]);
  return value as Record<string, unknown>;
}

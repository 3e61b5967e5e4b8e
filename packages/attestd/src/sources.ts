import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { FileRefusal, readRegularFile } from "@attestd/service/regular-file";
import { MAX_FILE_BYTES } from "@attestd/web/bundle-file";
import { EXIT, Failure, failsFor, fileTrouble } from "./failure.ts";
import { collect, readFound, readNamed } from "./files.ts";
import { isLoopback } from "./loopback.ts";
import type { Input } from "./terminal.ts";

/** Something to read: a file, an address of the web, or standard input. */
export type Source = {
  /** As the user gave it, or the path of a file in a folder that the user gave. */
  name: string;
  kind: "file" | "url" | "stdin";
  /** Whether it was found in a folder, where files of other things may stand beside. */
  isFound: boolean;
};

/** Files in folders that may have a bundle. */
const PLAUSIBLE = /\.(json|pdf|svg)$/i;
const MAX_FILES = 10_000;
const MAX_DEPTH = 32;
const TIMEOUT_MS = 30_000;
const MAX_REDIRECTS = 3;

/**
 * The sources that the arguments name. A folder stands for the plausible files in it and below, in the order of their names;
 * hidden ones and links are left out.
 *
 * @param names files, folders, URLs, and `-` for standard input
 * @throws Failure `usage` for a folder with too many files or levels; `unreadable` for one that cannot be read
 */
export async function sourcesOf(names: readonly string[]): Promise<Source[]> {
  const sources: Source[] = [];
  for (const name of names) {
    if (name === "-") sources.push({ name, kind: "stdin", isFound: false });
    else if (isUrl(name)) sources.push({ name, kind: "url", isFound: false });
    else if (await isFolder(name)) {
      const found = await filesIn(name, MAX_FILES - sources.length, MAX_DEPTH);
      sources.push(...found.map((file) => ({ name: file, kind: "file" as const, isFound: true })));
    } else sources.push({ name, kind: "file", isFound: false });
  }
  return sources;
}

/** The failure when folders have nothing to read. @param others files of other things that they have */
export function nothingIn(names: readonly string[], others: number): Failure {
  const found = others === 0 ? "No .json, .pdf or .svg file is there." : `${others} files are of other things.`;
  return new Failure(EXIT.unreadable, `no bundle in ${names.join(", ")}`, [found]);
}

/** Whether an argument is an address of the web and not a file. */
export function isUrl(name: string): boolean {
  return /^https?:\/\//i.test(name);
}

/** Whether a path is a folder's. */
export async function isFolder(name: string): Promise<boolean> {
  return stat(name).then(
    (one) => one.isDirectory(),
    () => false,
  );
}

async function filesIn(folder: string, most: number, depth: number): Promise<string[]> {
  const failure = failsFor(EXIT.unreadable, `read ${folder}`, "folder");
  const entries = await readdir(folder, { withFileTypes: true }).catch(failure);
  const files: string[] = [];
  for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = join(folder, entry.name);
    if (entry.name.startsWith(".")) continue;
    if (entry.isFile() && PLAUSIBLE.test(entry.name)) files.push(path);
    if (!entry.isDirectory()) continue;
    if (depth === 0) throw new Failure(EXIT.usage, `${path} is too deep`, ["Name the folder itself."]);
    files.push(...(await filesIn(path, most - files.length, depth - 1)));
    if (files.length > most) break;
  }
  if (files.length <= most) return files;
  throw new Failure(EXIT.usage, `more than ${MAX_FILES} files`, ["Name the folders one after the other."]);
}

/**
 * Reads a source.
 * @throws Failure `unreadable`, also for one that is too large; `unreachable` for a URL without an answer
 */
export async function readSource(
  { name, kind, isFound }: Source,
  stdin: () => Input,
  maxBytes = MAX_FILE_BYTES,
): Promise<Buffer> {
  if (kind === "url") return download(name, maxBytes);
  try {
    if (kind === "stdin") return await collect(stdin(), maxBytes);
    return isFound ? readFoundFile(name, maxBytes) : (await readNamed(name, maxBytes)).bytes;
  } catch (error) {
    return unreadable(error);
  }
}

/** Reads a file that stands beside another. @returns undefined when there is none. @throws Failure `unreadable` */
export function readBeside(path: string, maxBytes = MAX_FILE_BYTES): Buffer | undefined {
  try {
    return readFound(path, maxBytes);
  } catch (error) {
    return unreadable(error);
  }
}

/** It was there when its folder was read. */
function readFoundFile(path: string, maxBytes: number): Buffer {
  return readRegularFile(path, { maxBytes, isFound: true }).bytes;
}

function unreadable(error: unknown): never {
  if (error instanceof Failure) throw error;
  if (error instanceof FileRefusal && error.code === "TOO_LARGE") throw tooLarge(error.bytes);
  throw new Failure(EXIT.unreadable, fileTrouble(error), [], error);
}

/** @throws Failure `unreadable` */
export function requireSize(size: number, maxBytes = MAX_FILE_BYTES): void {
  if (size > maxBytes) throw tooLarge(size);
}

function tooLarge(bytes: number): Failure {
  return new Failure(EXIT.unreadable, `${(bytes / 1e6).toFixed(1)} MB or more; bundles are smaller.`);
}

/** Gets what is at a URL, in a bounded time and size. Redirects stay as safe as the URL itself. */
async function download(address: string, maxBytes: number): Promise<Buffer> {
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  let url = safeUrl(address);
  for (let redirects = 0; ; redirects++) {
    const response = await fetch(url, { redirect: "manual", signal }).catch((error) => {
      const why = signal.aborted ? `No answer in ${TIMEOUT_MS / 1000} s.` : `No answer: ${reason(error)}.`;
      throw new Failure(EXIT.unreachable, why, [], error);
    });
    const target = response.status >= 300 && response.status < 400 ? response.headers.get("location") : null;
    if (target === null) {
      if (response.status !== 200) {
        await response.body?.cancel();
        throw new Failure(EXIT.unreachable, `${url.host} answered ${response.status}.`);
      }
      return collect(response.body ?? new Blob().stream(), maxBytes).catch((error) => {
        if (error instanceof FileRefusal) throw tooLarge(error.bytes);
        throw new Failure(EXIT.unreachable, `The answer of ${url.host} broke off.`, [], error);
      });
    }
    await response.body?.cancel();
    if (redirects === MAX_REDIRECTS) throw new Failure(EXIT.unreachable, "Redirected too often.");
    const next = safeUrl(target, url);
    if (isLoopback(next.hostname) && !isLoopback(url.hostname))
      throw new Failure(EXIT.unreadable, `${url.host} redirects to this machine.`);
    url = next;
  }
}

function safeUrl(address: string, base?: URL): URL {
  const url = URL.parse(address, base);
  if (!url || !/^https?:$/.test(url.protocol)) throw new Failure(EXIT.unreadable, "Not an http or https URL.");
  if (url.username || url.password) throw new Failure(EXIT.unreadable, "A URL with a password is not taken.");
  if (url.protocol === "https:" || isLoopback(url.hostname)) return url;
  throw new Failure(EXIT.unreadable, `${url.host} must be asked by https.`);
}

function reason(error: unknown): string {
  const { cause, message } = error as Error;
  return cause instanceof Error ? cause.message : message;
}

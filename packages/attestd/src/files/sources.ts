import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { isLoopback } from "@attestd/proof/text";
import { FileRefusal } from "@attestd/service/regular-file";
import { MAX_FILE_BYTES } from "@attestd/web/bundle-file";
import { EXIT, type ExitCode, Failure, failsFor, fileTrouble } from "../failure.ts";
import type { Input } from "../terminal/terminal.ts";
import { collect, readFound, readNamed } from "./files.ts";

/** Something to read: a file, a URL, or standard input. */
export type Source = {
  /** As the user wrote it, or the path of a file in a folder that the user named. */
  name: string;
  kind: "file" | "url" | "stdin";
  /** Whether it was found in a folder, which may also contain files of other kinds. */
  isFound: boolean;
};

/** A source that cannot be read: why, in a sentence, and the exit code for it. */
export type Unreadable = { kind: "unreadable"; why: string; exitCode: ExitCode };

/** The names of files in folders that may contain a bundle. */
const PLAUSIBLE = /\.(json|pdf|svg)$/i;
const MAX_FILES = 10_000;
const MAX_DEPTH = 32;
const TIMEOUT_MS = 30_000;
const MAX_REDIRECTS = 3;

/**
 * Lists the sources that the arguments name. A folder stands for the plausible files in it and below, in the order of their
 * names; hidden files and links are left out.
 *
 * @param names files, folders, URLs, and `-` for standard input
 * @throws Failure `usage` for a folder with too many files or levels; `unreadable` for a folder that cannot be read
 */
export async function sourcesOf(names: readonly string[]): Promise<Source[]> {
  const sources: Source[] = [];
  for (const name of names) {
    if (name === "-" || isUrl(name)) sources.push(sourceOf(name));
    else if (await isFolder(name)) {
      const found = await filesIn(name, MAX_FILES - sources.length, MAX_DEPTH);
      sources.push(...found.map((file) => ({ name: file, kind: "file" as const, isFound: true })));
    } else sources.push(sourceOf(name));
  }
  return sources;
}

/** The source that an argument names, which is no folder. */
export function sourceOf(name: string): Source {
  return { name, kind: name === "-" ? "stdin" : isUrl(name) ? "url" : "file", isFound: false };
}

/** The failure when the named folders have nothing to read. @param others how many files of other kinds they contain */
export function nothingIn(names: readonly string[], others: number): Failure {
  const found = others === 0 ? "No .json, .pdf or .svg file is there." : `${others} files are of other kinds.`;
  return new Failure(EXIT.unreadable, `no bundle in ${names.join(", ")}`, [found]);
}

/** Whether an argument is a URL and not a file. */
export function isUrl(name: string): boolean {
  return /^https?:\/\//i.test(name);
}

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

/** Reads a source. @returns why not, for a source that is too large, cannot be read or does not answer */
export async function readSource(
  { name, kind, isFound }: Source,
  stdin: () => Input,
  maxBytes = MAX_FILE_BYTES,
): Promise<Buffer | Unreadable> {
  if (kind === "url") return download(name, maxBytes);
  if (isFound) return readBeside(name, maxBytes) ?? unreadable("There is no such file.");
  try {
    return kind === "stdin" ? await collect(stdin(), maxBytes) : (await readNamed(name, maxBytes)).bytes;
  } catch (error) {
    return refused(error);
  }
}

/** Reads a file that the user did not name: one in a folder, or next to another file. @returns undefined without a file */
export function readBeside(path: string, maxBytes = MAX_FILE_BYTES): Buffer | Unreadable | undefined {
  try {
    return readFound(path, maxBytes);
  } catch (error) {
    return refused(error);
  }
}

function refused(error: unknown): Unreadable {
  return error instanceof FileRefusal && error.code === "TOO_LARGE"
    ? tooLarge(error.bytes)
    : unreadable(fileTrouble(error));
}

function unreadable(why: string, exitCode: ExitCode = EXIT.unreadable): Unreadable {
  return { kind: "unreadable", why, exitCode };
}

export function tooLarge(bytes: number): Unreadable {
  return unreadable(`${(bytes / 1e6).toFixed(1)} MB or more; bundles are smaller.`);
}

/** Gets what a URL names, within a bounded time and size. A redirect must be as safe as the URL itself. */
async function download(address: string, maxBytes: number): Promise<Buffer | Unreadable> {
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  let url = URL.parse(address);
  for (let redirects = 0; ; redirects++) {
    const fault = faultOf(url);
    if (url === null || fault !== undefined) return unreadable(fault ?? "");
    const { host } = url;
    const response = await fetch(url, { redirect: "manual", signal }).catch((error: unknown) =>
      unreadable(
        signal.aborted ? `No answer in ${TIMEOUT_MS / 1000} s.` : `No answer: ${reason(error)}.`,
        EXIT.unreachable,
      ),
    );
    if ("kind" in response) return response;
    const target = response.status >= 300 && response.status < 400 ? response.headers.get("location") : null;
    if (target === null && response.status === 200)
      return collect(response.body ?? new Blob().stream(), maxBytes).catch((error: unknown) =>
        error instanceof FileRefusal
          ? tooLarge(error.bytes)
          : unreadable(`The answer of ${host} broke off.`, EXIT.unreachable),
      );
    await response.body?.cancel();
    if (target === null) return unreadable(`${host} answered ${response.status}.`, EXIT.unreachable);
    if (redirects === MAX_REDIRECTS) return unreadable("Redirected too often.", EXIT.unreachable);
    const next = URL.parse(target, url);
    if (next && isLoopback(next.hostname) && !isLoopback(url.hostname))
      return unreadable(`${host} redirects to this machine.`);
    url = next;
  }
}

/** Why a URL is not asked, in a sentence. */
function faultOf(url: URL | null): string | undefined {
  if (!url || !/^https?:$/.test(url.protocol)) return "Not an http or https URL.";
  if (url.username || url.password) return "A URL with a password is not taken.";
  return url.protocol === "https:" || isLoopback(url.hostname) ? undefined : `${url.host} must be asked by https.`;
}

function reason(error: unknown): string {
  const { cause, message } = error as Error;
  return cause instanceof Error ? cause.message : message;
}

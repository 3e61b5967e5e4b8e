import { MAX_BATCH_BYTES } from "@attestd/proof";

/** A file that the reader gave; its name has the path within the folder that was given. */
export type GivenFile = { name: string; blob: Blob };
/** `leftOut`: files beyond `MAX_FILES`, at least. */
export type GivenFiles = { files: GivenFile[]; leftOut: boolean };

/** The most files that are checked at once. */
export const MAX_FILES = 2000;
/** A folder is read to this depth. */
const MAX_DEPTH = 16;

/** The files of a chooser, of many files or of a folder. */
export function chosen(files: Iterable<File>): GivenFiles {
  return bounded([...files].map((blob) => ({ name: blob.webkitRelativePath || blob.name, blob })));
}

/** The files and folders of a drop. It must be called while the event is handled; what it returns may come later. */
export function dropped({ items, files }: DataTransfer): Promise<GivenFiles> {
  const entries = [...items].map((item) => item.webkitGetAsEntry());
  // Without folders the list of files has everything.
  if (!entries.some((entry) => entry?.isDirectory)) return Promise.resolve(chosen(files));
  return walk(entries.filter((entry) => entry !== null));
}

async function walk(entries: readonly FileSystemEntry[]): Promise<GivenFiles> {
  const files: GivenFile[] = [];
  const queue = entries.map((entry) => ({ entry, depth: 0 }));
  for (let next = queue.shift(); next && files.length <= MAX_FILES; next = queue.shift()) {
    const { entry, depth } = next;
    if (entry.isDirectory) {
      if (depth === MAX_DEPTH) continue;
      const inside = await entriesOf(entry as FileSystemDirectoryEntry);
      queue.unshift(...inside.map((one) => ({ entry: one, depth: depth + 1 })));
    } else files.push(await fileOf(entry as FileSystemFileEntry));
  }
  return bounded(files);
}

/** What an answer of a batch begins with, and a bundle of one. */
const BEGINS_BATCH = /^\s*\{\s*"batch"\s*:/;

/** The files, with the bundles of each batch's answer in place of it. One that is damaged stays, and is found to be so. */
export async function withBundlesOfBatches({ files, leftOut }: GivenFiles): Promise<GivenFiles> {
  const found = await Promise.all(
    files.map(async (file) => {
      const head = file.blob.size > MAX_BATCH_BYTES ? "" : await textOf(file.blob.slice(0, 64));
      if (!BEGINS_BATCH.test(head)) return [file];
      const { bundlesInBatch } = await import("../src/batch-file.ts");
      try {
        const bundles = bundlesInBatch(new Uint8Array(await file.blob.arrayBuffer()));
        return (
          bundles?.map(({ place, bytes }) => ({ name: `${file.name}${place}`, blob: new Blob([bytes.slice()]) })) ?? [
            file,
          ]
        );
      } catch {
        return [file];
      }
    }),
  );
  const all = bounded(found.flat());
  return { ...all, leftOut: leftOut || all.leftOut };
}

/** @returns "" of one that cannot be read */
function textOf(blob: Blob): Promise<string> {
  return blob.text().catch(() => "");
}

function bounded(files: readonly GivenFile[]): GivenFiles {
  // Operating systems put files of their own into folders.
  const wanted = files.filter(
    ({ name }) => !/(^|\/)(\.[^/]*|Thumbs\.db|desktop\.ini)$/i.test(name) || files.length === 1,
  );
  return { files: wanted.slice(0, MAX_FILES), leftOut: wanted.length > MAX_FILES };
}

/** A directory is read in portions, the last of which is empty (File and Directory Entries API). */
async function entriesOf(directory: FileSystemDirectoryEntry): Promise<FileSystemEntry[]> {
  const reader = directory.createReader();
  const all: FileSystemEntry[] = [];
  for (;;) {
    const portion = await new Promise<FileSystemEntry[]>((resolve) => reader.readEntries(resolve, () => resolve([])));
    if (portion.length === 0) return all.toSorted((a, b) => (a.name < b.name ? -1 : 1));
    all.push(...portion);
    if (all.length > MAX_FILES) return all;
  }
}

/** A file that cannot be opened is an error when it is read. */
async function fileOf(entry: FileSystemFileEntry): Promise<GivenFile> {
  const name = entry.fullPath.replace(/^\//, "");
  const blob = await new Promise<Blob>((resolve) => entry.file(resolve, () => resolve(new Unopened())));
  return { name, blob };
}

/** A file that the browser could not open. */
class Unopened extends Blob {
  override arrayBuffer(): Promise<ArrayBuffer> {
    return Promise.reject(new DOMException("not opened", "NotReadableError"));
  }
}

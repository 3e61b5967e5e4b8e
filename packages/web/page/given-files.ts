import type { Judgement } from "../src/judge.ts";

type BatchJudgement = Extract<Judgement, { kind: "batch" }>;

/** A file that the reader gave; its name has the path within the folder that was given. */
export type GivenFile = {
  name: string;
  blob: Blob;
  /** The batch's file that it is in; of a certificate whether its text is the batch's, and the evidence that it carries. */
  within?: { file: GivenFile } & Pick<BatchJudgement, "certificate" | "evidence">;
};
/** `leftOut`: files beyond `MAX_FILES`, at least. */
export type GivenFiles = { files: GivenFile[]; leftOut: boolean };

/** The most files that are checked at once. */
export const MAX_FILES = 2000;
/** A folder is read to this depth. */
const MAX_DEPTH = 16;

/** Contents that have no file name, pasted or bought. */
export function unnamed(contents: BlobPart): GivenFiles {
  return { files: [{ name: "what was pasted", blob: new Blob([contents]) }], leftOut: false };
}

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

/** The bundles of a batch, as files in its file. */
export function filesInBatch(
  file: GivenFile,
  { bundles, certificate, evidence }: Omit<BatchJudgement, "kind">,
): GivenFile[] {
  const within = { file, certificate, evidence };
  return bundles.map(({ place, bytes }) => ({ name: `${file.name}${place}`, blob: new Blob([bytes.slice()]), within }));
}

/** The files that were given: in place of the bundles of a batch the file that they are in, once. */
export function filesAsGiven(files: readonly GivenFile[]): GivenFile[] {
  return [...new Set(files.map((file) => file.within?.file ?? file))];
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

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { brotliDecompressSync } from "node:zlib";

/** Reads real data by its path in a folder. */
export type Vectors = {
  bytes(path: string): Uint8Array;
  text(path: string): string;
  // biome-ignore lint/suspicious/noExplicitAny: the shape of foreign data is what a test is about to find out.
  json(path: string): any;
};

/** The folder of recorded data that tests always have. Its README says where each file is from. */
export const RECORDED = join(import.meta.dirname, "recorded");

/** Recorded data by its path in that folder. A large text is stored as Brotli, and read by its name without `.br`. */
export const vectors: Vectors = vectorsOf(RECORDED);

/**
 * The real data that is too large for the repository, in the folder that ATTESTD_VECTORS names.
 *
 * @param what is not tested without it, which is printed
 * @returns undefined if ATTESTD_VECTORS is not set
 */
export function readLargeVectors(what: string): Vectors | undefined {
  const folder = process.env.ATTESTD_VECTORS;
  if (folder !== undefined) return vectorsOf(folder);
  console.warn(`skipped: ${what} (ATTESTD_VECTORS does not name the folder of large test vectors)`);
  return undefined;
}

function vectorsOf(folder: string): Vectors {
  const bytes = (path: string) => new Uint8Array(read(join(folder, path)));
  const text = (path: string) => Buffer.from(bytes(path)).toString("utf8");
  return { bytes, text, json: (path) => JSON.parse(text(path)) };
}

function read(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch {
    return brotliDecompressSync(readFileSync(`${path}.br`));
  }
}

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe } from "vitest";

/** Reads real data by its path under the vectors' folder. */
export type Vectors = {
  bytes(path: string): Uint8Array;
  text(path: string): string;
  // biome-ignore lint/suspicious/noExplicitAny: the shape of foreign data is what a test is about to find out.
  json(path: string): any;
};

/** The folder that ATTESTD_VECTORS names; undefined if it names none. */
export function readVectors(): Vectors | undefined {
  const folder = process.env.ATTESTD_VECTORS;
  if (folder === undefined) return undefined;
  const bytes = (path: string) => new Uint8Array(readFileSync(join(folder, path)));
  const text = (path: string) => readFileSync(join(folder, path), "utf8");
  return { bytes, text, json: (path) => JSON.parse(text(path)) };
}

/** A `describe` that needs the vectors, and says so where there are none. */
export function describeVectors(name: string, tests: (vectors: Vectors) => void): void {
  const vectors = readVectors();
  if (vectors === undefined) {
    console.warn(`skipped: ${name} (ATTESTD_VECTORS does not name the folder of test vectors)`);
    describe.skip(name, () => {});
    return;
  }
  describe(name, () => tests(vectors));
}

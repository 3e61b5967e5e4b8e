import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { zstdDecompressSync } from "node:zlib";
import type { Call } from "../../src/calls/call.ts";

/*
 * A journal of each schema version, made by the release of that version (make.ts) and never changed afterwards: `v1.sqlite`
 * and `v1.ndjson`, compressed, and what they hold, `v1.json`.
 */

/** What is known of a journal beside its own bytes. */
export type Held = {
  /** The tables and indexes of both databases. */
  schema: { sqlite: string[]; postgres: string[] };
  calls: Call[];
};

export function fixtureFile(version: number, ending: "sqlite.zst" | "ndjson.zst" | "json"): string {
  return fileURLToPath(new URL(`v${version}.${ending}`, import.meta.url));
}

export function hasFixture(version: number): boolean {
  return existsSync(fixtureFile(version, "json"));
}

/** A journal's own bytes: of its SQLite file, or of its dump from PostgreSQL. */
export function journalOf(version: number, kind: "sqlite" | "ndjson"): Uint8Array {
  return zstdDecompressSync(readFileSync(fixtureFile(version, `${kind}.zst`)));
}

export function heldBy(version: number): Held {
  return JSON.parse(readFileSync(fixtureFile(version, "json"), "utf8"), (_, value) =>
    typeof value?.hex === "string" ? Uint8Array.fromHex(value.hex) : value,
  );
}

export function textOf(held: Held): string {
  const bytesAsHex = (_: string, value: unknown) => (value instanceof Uint8Array ? { hex: value.toHex() } : value);
  return `${JSON.stringify(held, bytesAsHex, 2)}\n`;
}

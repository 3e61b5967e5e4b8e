import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { OF_BASE } from "./bundles/base.ts";
import { OF_BATCHES } from "./bundles/batches.ts";
import type { Case } from "./bundles/case.ts";
import { FOUND } from "./bundles/found.ts";
import { HISTORIES } from "./bundles/ingredients.ts";
import { OF_JSON, UNREADABLE } from "./bundles/json.ts";
import { OF_MSGPACK } from "./bundles/msgpack.ts";
import { REFUSED } from "./bundles/refused.ts";
import { VERIFIED } from "./bundles/verified.ts";

export type { Case };
export { HISTORIES, UNREADABLE };

/**
 * Bundles with the verdict that is right, on which every verifier must agree: the library, the service, the command, the
 * page, and the independent ones of this folder. The same in every run. Verdicts are stated by hand, never computed.
 *
 *     node docs/verify/bundles.ts FOLDER     writes them there, with the key histories and table.json
 */
export const CASES: readonly Case[] = [
  ...VERIFIED,
  ...REFUSED,
  ...OF_JSON,
  ...OF_MSGPACK,
  ...OF_BASE,
  ...OF_BATCHES,
  ...FOUND,
];

/** Writes the bundles, the histories and a table of the verdicts to a folder. */
function write(folder: string): void {
  mkdirSync(folder, { recursive: true });
  for (const [name, history] of Object.entries(HISTORIES))
    writeFileSync(join(folder, `${name}.json`), JSON.stringify(history));
  const unreadable = UNREADABLE.map((one) => ({ ...one, keys: "keys", failed: ["schema"], warnings: [] }));
  const table = [...CASES, ...unreadable].map(({ ...verdict }, index) => {
    const file = `${String(index + 1).padStart(3, "0")}.json`;
    writeFileSync(join(folder, file), "text" in verdict ? verdict.text : verdict.bytes);
    return { file, ...verdict, text: undefined, bytes: undefined };
  });
  writeFileSync(join(folder, "table.json"), JSON.stringify(table, null, 2));
}

if (import.meta.main) write(process.argv[2] ?? "bundles");

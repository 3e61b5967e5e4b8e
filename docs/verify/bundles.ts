import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { testHistory } from "../../test/bundles/bundles.ts";
import { OF_BASE } from "./bundles/base.ts";
import { OF_BATCHES } from "./bundles/batches.ts";
import type { Case } from "./bundles/case.ts";
import { type EvidenceCase, OF_EVIDENCE, OF_FALCON, own } from "./bundles/evidence.ts";
import { ODD_EVIDENCE, ODD_FALCON } from "./bundles/evidence-odd.ts";
import { FOUND } from "./bundles/found.ts";
import { HISTORIES } from "./bundles/ingredients.ts";
import { OF_JSON, UNREADABLE } from "./bundles/json.ts";
import { OF_MSGPACK } from "./bundles/msgpack.ts";
import { ANSWERS_REFUSED, RECEIPTS } from "./bundles/receipts.ts";
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

/** Evidence with its verdicts. A state proof is needed for those of the second list. */
export const EVIDENCE: readonly EvidenceCase[] = [...OF_EVIDENCE, ...ODD_EVIDENCE];
export const FALCON_EVIDENCE: readonly EvidenceCase[] = [...OF_FALCON, ...ODD_FALCON];

/** Writes the bundles, the histories and a table of the verdicts to a folder; receipts and evidence in folders of their own. */
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
  writeReceipts(join(folder, "receipts"));
  writeEvidence(join(folder, "evidence"));
}

/** Receipts, and answers of batches that are refused, all by the history `keys`: `said` are the lines that the programs print. */
function writeReceipts(folder: string): void {
  mkdirSync(folder, { recursive: true });
  const table = [...RECEIPTS, ...ANSWERS_REFUSED].map(({ name, text, said }, index) => {
    const file = `${String(index + 1).padStart(3, "0")}.json`;
    writeFileSync(join(folder, file), text);
    return { file, name, keys: "keys", said };
  });
  writeFileSync(join(folder, "table.json"), JSON.stringify(table, null, 2));
}

const EVIDENCE_CHECKS = [
  ...["schema", "inclusion", "stateProof"],
  ...["authorisation", "sourceInclusion", "sourceStateProof"],
];

/** Each with its bundle, and the checkpoint or the root of a table that is trusted. */
function writeEvidence(folder: string): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "keys.json"), JSON.stringify(testHistory()));
  const table = [...EVIDENCE, ...FALCON_EVIDENCE].map(([name, results, items, root, of = own], index) => {
    const number = String(index + 1).padStart(3, "0");
    const write = (part: string, value: object) => {
      writeFileSync(join(folder, `${number}.${part}.json`), JSON.stringify(value));
      return `${number}.${part}.json`;
    };
    const checkpoint = root === undefined ? write("checkpoint", of.checkpoint) : undefined;
    const files = { bundle: write("bundle", of.bundle), evidence: write("evidence", { ...of.evidence, items }) };
    const checks = EVIDENCE_CHECKS.map((check, at) => [check, results[at] ?? "not_checked"]);
    return { ...files, checkpoint, root, name, keys: "keys", checks: Object.fromEntries(checks) };
  });
  writeFileSync(join(folder, "table.json"), JSON.stringify(table, null, 2));
}

if (import.meta.main) write(process.argv[2] ?? "bundles");

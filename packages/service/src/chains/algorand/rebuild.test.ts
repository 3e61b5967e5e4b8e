import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { decodeMsgpackMap, encodeMsgpack, getMap, txid } from "@attestd/proof/algorand";
import { toHex } from "@attestd/proof/encoding";
import { describe, expect, it } from "vitest";
import { parseLosslessJson } from "../../providers/json.ts";
import { rebuildTransaction } from "./rebuild.ts";

const vectors = process.env.ATTESTD_VECTORS;
if (vectors === undefined) console.info("rebuild: ATTESTD_VECTORS is not set, recorded transactions are skipped");
const folder = join(vectors ?? "", "algorand/indexer-txn");
const names = vectors ? readdirSync(folder).flatMap((name) => /^(.*)\.txn$/.exec(name)?.[1] ?? []) : [];

function read(name: string): { bytes: Uint8Array; json: Record<string, unknown> } {
  const signed = decodeMsgpackMap(readFileSync(join(folder, `${name}.txn`)));
  const json = parseLosslessJson(readFileSync(join(folder, `${name}.response`), "utf8"));
  return { bytes: encodeMsgpack(getMap(signed, "txn") ?? new Map()), json: json as Record<string, unknown> };
}

describe.skipIf(names.length === 0)("recorded transactions", () => {
  it.each(names.filter((name) => name !== "txnaccess_multiple"))("%s leads to its own bytes", (name) => {
    const { bytes, json } = read(name);
    const rebuilt = rebuildTransaction(txid(bytes), json);
    expect(rebuilt && toHex(rebuilt)).toBe(toHex(bytes));
  });

  it("refuses a call with resource access, of which the JSON does not hold everything", () => {
    const { bytes, json } = read("txnaccess_multiple");
    expect(rebuildTransaction(txid(bytes), json)).toBeUndefined();
  });

  it("refuses JSON that leads to another id", () => {
    const { bytes, json } = read("payment");
    expect(rebuildTransaction(txid(bytes), { ...json, fee: 1001 })).toBeUndefined();
  });
});

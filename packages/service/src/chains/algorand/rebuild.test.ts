import { readdirSync } from "node:fs";
import { join } from "node:path";
import { decodeMsgpackMap, encodeMsgpack, getMap, txid } from "@attestd/proof/algorand";
import { toHex } from "@attestd/proof/encoding";
import { describe, expect, it } from "vitest";
import { RECORDED, vectors } from "../../../../proof/test/vectors.ts";
import { recordedTransactions } from "../../../test/algorand-recordings.ts";
import { parseLosslessJson } from "../../providers/json.ts";
import { rebuildTransaction } from "./rebuild.ts";

const folder = "algorand/indexer-txn";
const names = readdirSync(join(RECORDED, folder)).flatMap((name) => /^(.*)\.txn$/.exec(name)?.[1] ?? []);

function read(name: string): { bytes: Uint8Array; json: Record<string, unknown> } {
  const signed = decodeMsgpackMap(vectors.bytes(`${folder}/${name}.txn`));
  const json = parseLosslessJson(vectors.text(`${folder}/${name}.response`));
  return { bytes: encodeMsgpack(getMap(signed, "txn") ?? new Map()), json: json as Record<string, unknown> };
}

describe("recorded transactions", () => {
  it.each(names)("%s leads to its own bytes", (name) => {
    const { bytes, json } = read(name);
    const rebuilt = rebuildTransaction(txid(bytes), json);
    expect(rebuilt && toHex(rebuilt)).toBe(toHex(bytes));
  });

  it("refuses JSON that leads to another id", () => {
    const { bytes, json } = read("payment");
    expect(rebuildTransaction(txid(bytes), { ...json, fee: 1001 })).toBeUndefined();
  });
});

describe("transactions of a real network, by indexer 3.9", () => {
  it("lead to their own bytes, of each kind, under v41 and v42", () => {
    const recorded = recordedTransactions();
    const wrong = recorded.filter(({ txid: id, unsignedMsgpackBase64: bytes, indexer: [record] }) => {
      const rebuilt = rebuildTransaction(id, record);
      return rebuilt === undefined || toHex(rebuilt) !== toHex(bytes);
    });
    expect(wrong.map(({ consensus, label }) => `${consensus} ${label}`)).toEqual([]);
    const labels = new Set(recorded.map(({ label }) => label));
    expect([...labels]).toEqual(expect.arrayContaining(["appl box refs empty and many", "appl access list", "hb"]));
  });

  it.each(["appl access list", "appl box refs empty and many", "hb"])("%s: other JSON is refused", (kind) => {
    const { txid: id, indexer } = recordedTransactions().find(({ label }) => label === kind) ?? {};
    expect(rebuildTransaction(id ?? "", { ...indexer?.[0], "first-valid": 1 })).toBeUndefined();
  });
});

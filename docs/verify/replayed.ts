import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { encodeMsgpack, proveLeaf, restoreTransaction, splitBlock, transactionLeaf } from "@attestd/proof/algorand";
import { proveIndex } from "@attestd/proof/base";
import { fromHex, toBase64 } from "@attestd/proof/encoding";
import type { TestBlock } from "../../test/bundles/bundles.ts";

/** The recorded blocks of a folder laid out as a sandbox replays them, of either chain. */
export function replayedBlocks(folder: string): TestBlock[] {
  const read = (chain: string) => {
    const home = join(folder, chain, "blocks");
    return namesIn(home).map((name) => readFileSync(join(home, name)));
  };
  return [
    ...read("algorand").map((bytes) => algorandBlock(bytes)),
    ...read("base").map((bytes) => opStackBlock(bytes.toString("utf8"))),
  ];
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).sort();
  } catch {
    return [];
  }
}

/** A block as algod answers with it. @param bytes `{block, cert}`, msgpack */
export function algorandBlock(bytes: Uint8Array): TestBlock {
  const { header, headerBytes, transactions: entries } = splitBlock(bytes);
  const tree = header.has("txn256") ? "txn256" : "txn";
  const stibs = entries.map(encodeMsgpack);
  const transactions = entries.map((entry) => encodeMsgpack(restoreTransaction(entry, header)));
  const leaves = transactions.map((transaction, index) =>
    transactionLeaf(tree, transaction, stibs[index] as Uint8Array),
  );
  const prove = (index: number) => {
    const siblings = proveLeaf(tree, leaves, index).map(toBase64);
    return {
      kind: "algorand-merkle",
      tree,
      index,
      stibBase64: toBase64(stibs[index] as Uint8Array),
      siblings,
    } as const;
  };
  return { chain: "algorand", header: headerBytes, transactions, prove };
}

function opStackBlock(text: string): TestBlock {
  const { headerRlp, transactions: listed } = JSON.parse(text);
  const transactions: Uint8Array[] = listed.map(({ raw }: { raw: string }) => fromHex(raw.slice(2)));
  const nodes = (index: number) => proveIndex(transactions, index).nodes.map(toBase64);
  const prove = (index: number) => ({ kind: "mpt", index, nodes: nodes(index) }) as const;
  return { chain: "base", header: fromHex(headerRlp.slice(2)), transactions, prove };
}

import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  blockHash,
  decodeMsgpackMap,
  encodeMsgpack,
  type MsgpackMap,
  restoreTransaction,
  splitBlock,
  transactionLeaf,
  treeRoot,
  txid,
} from "@attestd/proof/algorand";
import { fromBase64, toBase64 } from "@attestd/proof/encoding";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { RECORDED, vectors } from "../../../proof/test/vectors.ts";
import { pay, startTestNetwork, submit, type TestNetwork } from "../../test/algorand-network.ts";
import { signTransaction } from "./account.ts";

const replay = join(RECORDED, "replay");

interface Recorded {
  txid: string;
  type: string;
  round?: number;
  sender: string;
  txnMsgpackBase64: string;
  sigBase64: string;
}

const transactions: Recorded[] = vectors.json("replay/algorand/transactions/mainnet.json");
const blocks = readdirSync(join(replay, "algorand/blocks"));

describe("recordings are served beside the sandbox's own rounds", () => {
  let network: TestNetwork;

  beforeAll(async () => {
    network = await startTestNetwork({ replayDir: replay });
  });

  afterAll(() => network.close());

  const blockBytes = async (round: bigint | number) =>
    new Uint8Array(await (await fetch(`${network.algodUrl}/v2/blocks/${round}?format=msgpack`)).arrayBuffer());

  test.each(transactions)("$type $txid is served with its id, in a block of its chain and round", async (recorded) => {
    const { transaction } = await network.indexer.lookupTransactionByID(recorded.txid).do();
    expect(transaction).toMatchObject({ id: recorded.txid, txType: recorded.type, sender: recorded.sender });
    if (recorded.round !== undefined) expect(transaction.confirmedRound).toBe(BigInt(recorded.round));

    const { header, transactions: payset } = splitBlock(await blockBytes(transaction.confirmedRound ?? 0n));
    expect(toBase64(header.get("gh") as Uint8Array)).toBe("wGHE2Pwdvd7S12BL5FaOP20EGYesN73ktiC1qzkkit8=");
    expect(header.get("gen")).toBe("mainnet-v1.0");
    const restored = payset.map((inBlock) => encodeMsgpack(restoreTransaction(inBlock, header)));
    expect(restored.map(toBase64)).toEqual([recorded.txnMsgpackBase64]);
    expect(restored.map(txid)).toEqual([recorded.txid]);
    expect(toBase64(payset[0]?.get("sig") as Uint8Array)).toBe(recorded.sigBase64);
    const leaves = payset.map((inBlock, index) =>
      transactionLeaf("txn256", restored[index] ?? new Uint8Array(), encodeMsgpack(inBlock)),
    );
    expect(header.get("txn256")).toEqual(treeRoot("txn256", leaves));
  });

  test.each(blocks)("%s is served byte for byte, and the indexer finds its transactions", async (file) => {
    const bytes = new Uint8Array(readFileSync(join(replay, "algorand/blocks", file)));
    const { header, headerBytes, transactions: payset } = splitBlock(bytes);
    const round = Number(header.get("rnd"));
    expect(await blockBytes(round)).toEqual(bytes);
    const { blockhash } = await network.algod.getBlockHash(round).do();
    expect(blockhash).toBe(blockHash(headerBytes));
    const indexed = await network.indexer.lookupBlock(round).do();
    expect(indexed.transactions?.map(({ id }) => id)).toEqual(
      payset.map((inBlock) => txid(encodeMsgpack(restoreTransaction(inBlock, header)))),
    );
    for (const { id = "" } of indexed.transactions ?? [])
      expect((await network.indexer.lookupTransactionByID(id).do()).transaction.confirmedRound).toBe(BigInt(round));
  });

  test("a recorded state proof has the id that the real indexer gave it", async () => {
    const { transactions: found } = await network.indexer.lookupBlock(619).do();
    expect(found?.[0]).toMatchObject({ id: "62NL5ZH7HXKVLOX7DKFI3UMFNA3TOAVYO4QWTDTZPD4ECLUQCHQQ", txType: "stpf" });
  });

  test("the sandbox's rounds follow them, on a chain with its own genesis", async () => {
    const { payer } = network.accounts;
    const highest = Math.max(...transactions.map(({ round = 0 }) => round));
    expect(network.sample.round).toBeGreaterThan(highest);
    const params = await network.algod.getTransactionParams().do();
    expect(params.firstValid).toBe(BigInt(network.ledger.round));
    const payment = await pay(network, payer);
    expect(await submit(network, signTransaction(payer, payment))).toBe(payment.txID());
    network.ledger.advance();
    expect((await network.indexer.lookupTransactionByID(payment.txID()).do()).transaction.genesisId).toBe(
      network.genesisId,
    );
    // A recording has no state: its senders have nothing here.
    const [recorded] = transactions as [Recorded];
    const signed = encodeMsgpack(
      new Map<string, Uint8Array | MsgpackMap>([
        ["sig", fromBase64(recorded.sigBase64)],
        ["txn", decodeMsgpackMap(fromBase64(recorded.txnMsgpackBase64))],
      ]),
    );
    expect(await submit(network, signed)).toContain("400 TransactionPool.Remember: txn dead: ");
  });

  test("lists the chain of every recording", () => {
    expect(network.recordedChains.sort()).toEqual([
      "algorand:GUk5a9mr2S17TIqw_Lre_oTilqURTJti",
      "algorand:HhK9csyysPay8FKU30sozlspN0I9KUY6",
      "algorand:wGHE2Pwdvd7S12BL5FaOP20EGYesN73k",
    ]);
  });
});

describe("an inconsistent recording stops the start, with an error that names it", () => {
  let directory: string;
  let file: string;
  const [first] = transactions as [Recorded];

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), "attestd-replay-"));
    mkdirSync(join(directory, "algorand/transactions"), { recursive: true });
    file = join(directory, "algorand/transactions/own.json");
  });

  afterEach(() => rmSync(directory, { recursive: true }));

  const start = () => startTestNetwork({ replayDir: directory });

  test.each<[string, Partial<Recorded>, string]>([
    ["another id", { txid: transactions[1]?.txid ?? "" }, `the bytes are those of ${first?.txid}`],
    ["another type", { type: "pay" }, "the bytes are of type axfer"],
    ["another sender", { sender: transactions[1]?.sender ?? "" }, "the bytes are sent by HG2JL36OPPITBA7R"],
    ["a round outside of its validity", { round: 5 }, "round 5 is outside of its validity, 4531743 to 4532743"],
    ["no signature", { sigBase64: "" }, "sigBase64 is not 64 bytes"],
    ["bytes that are not a transaction", { txnMsgpackBase64: "gA==" }, "txnMsgpackBase64 is not canonical msgpack"],
    ["invalid base64", { txnMsgpackBase64: "?" }, "not canonical base64"],
  ])("%s", async (_, change, reason) => {
    const recorded = { ...first, ...change };
    writeFileSync(file, JSON.stringify([recorded]));
    await expect(start()).rejects.toThrow(`${file}: ${recorded.txid}: ${reason}`);
  });

  test("invalid JSON, and JSON that is not a list", async () => {
    for (const text of ["[", "{}"]) {
      writeFileSync(file, text);
      await expect(start()).rejects.toThrow(`${file}: `);
    }
  });

  test("two recordings of one round", async () => {
    writeFileSync(file, JSON.stringify([first, first]));
    await expect(start()).rejects.toThrow(
      `two recordings claim round ${first.round}: ${file}: ${first.txid} and ${file}: ${first.txid}`,
    );
  });

  test("a recording without a round is placed in the first free round of its validity", async () => {
    const round = 4531743;
    const { round: _, ...unplaced } = first;
    const [, , , second] = transactions as [Recorded, Recorded, Recorded, Recorded];
    writeFileSync(file, JSON.stringify([unplaced, second]));
    const started = await start();
    expect(started.ledger.blocks.locate(first.txid)).toEqual({ round, index: 0 });
    expect(started.ledger.blocks.locate(second.txid)).toEqual({ round: second.round, index: 0 });
    await started.close();
  });

  describe("a block", () => {
    const forge = (change: (answer: MsgpackMap, block: MsgpackMap) => void): string => {
      const source = join(replay, "algorand/blocks", "sandnet-108-heartbeat.msgpack");
      const answer = decodeMsgpackMap(new Uint8Array(readFileSync(source)));
      change(answer, answer.get("block") as MsgpackMap);
      mkdirSync(join(directory, "algorand/blocks"), { recursive: true });
      const forged = join(directory, "algorand/blocks/own.msgpack");
      writeFileSync(forged, encodeMsgpack(answer));
      return forged;
    };

    test("whose certificate names another hash", async () => {
      const forged = forge((_, block) => block.set("ts", 1));
      await expect(start()).rejects.toThrow(`${forged}: the block's hash is not the one that its certificate names`);
    });

    test("whose payset is not the one that its header commits to, certificate or not", async () => {
      const forged = forge((answer, block) => {
        answer.delete("cert");
        block.set("txns", []);
      });
      await expect(start()).rejects.toThrow(`${forged}: the block's transactions are not those of its txn`);
    });

    test("without a certificate is served", async () => {
      forge((answer) => answer.delete("cert"));
      const started = await start();
      expect(started.ledger.blocks.block(108)).toBeDefined();
      await started.close();
    });

    test("whose round a recorded transaction has too", async () => {
      const forged = forge((answer, block) => {
        answer.delete("cert");
        block.set("rnd", first.round ?? 0);
      });
      writeFileSync(file, JSON.stringify([first]));
      await expect(start()).rejects.toThrow(
        `two recordings claim round ${first.round}: ${forged} and ${file}: ${first.txid}`,
      );
    });
  });

  test("a folder without recordings of Algorand adds no blocks", async () => {
    cpSync(join(replay, "base"), join(directory, "base"), { recursive: true });
    rmSync(join(directory, "algorand"), { recursive: true });
    const started = await start();
    expect([started.recordedChains, started.ledger.blocks.block(0)?.txids]).toEqual([[], []]);
    await started.close();
  });
});

import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { flatRoot, type MsgpackMap, splitBlock } from "@attestd/proof/algorand";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { RECORDED, vectors } from "../../../proof/test/vectors.ts";
import { askJson, startTestNetwork, type TestNetwork } from "../../test/algorand-network.ts";

interface Recorded {
  consensus: string;
  label: string;
  txid: string;
  round: number;
  blockHash: string;
  proof: Record<"sha256" | "sha512_256", object>;
  /** The indexer's JSON. */
  indexer: [object];
}

/** Serves recorded blocks. @param prefix of the names of their files */
function describeBlocks(folder: string, prefix: RegExp, tests: (network: () => TestNetwork) => void): void {
  describe(`blocks of ${folder}`, () => {
    let network: TestNetwork;
    let replayDir: string;

    beforeAll(async () => {
      replayDir = mkdtempSync(join(tmpdir(), "attestd-recordings-"));
      const blocks = join(replayDir, "algorand/blocks");
      mkdirSync(blocks, { recursive: true });
      const from = join(RECORDED, folder, "blocks");
      for (const name of readdirSync(from)) if (prefix.test(name)) cpSync(join(from, name), join(blocks, name));
      network = await startTestNetwork({ replayDir });
    });

    afterAll(async () => {
      await network.close();
      rmSync(replayDir, { recursive: true });
    });

    tests(() => network);
  });
}

describeBlocks("go-algorand", /^v4[12]-/, (network) => {
  const transactions: Recorded[] = vectors.json("go-algorand/algod-transactions.json");

  test.each(transactions)("$consensus $label: proofs, hash and JSON are the real ones", async (real) => {
    const { txid, round, blockHash, proof } = real;
    const { algodUrl, indexerUrl } = network();
    const ask = async (path: string) => (await askJson<object>(`${algodUrl}/v2/blocks/${round}/${path}`)).body;
    expect(await ask("hash")).toEqual({ blockHash });
    for (const hashtype of ["sha256", "sha512_256"] as const)
      expect(await ask(`transactions/${txid}/proof?hashtype=${hashtype}`)).toEqual(proof[hashtype]);
    const found = await askJson<{ transaction: object }>(`${indexerUrl}/v2/transactions/${txid}`);
    expect(found.body.transaction).toEqual(real.indexer[0]);
  });
});

describeBlocks("go-algorand/old-consensus", /./, (network) => {
  type Old = Pick<Recorded, "consensus" | "label" | "txid" | "round" | "blockHash"> & {
    proof: Record<string, { status: number; body: object }>;
  };

  test.each<Old>(vectors.json("go-algorand/old-consensus/transactions.json"))(
    "$consensus $label: proofs or their refusals",
    async (real) => {
      const block = `${network().algodUrl}/v2/blocks/${real.round}`;
      expect((await askJson(`${block}/hash`)).body).toEqual({ blockHash: real.blockHash });
      for (const [hashtype, expected] of Object.entries(real.proof))
        expect(await askJson(`${block}/transactions/${real.txid}/proof?hashtype=${hashtype}`)).toEqual(expected);
    },
  );
});

test("a chain's first block commits to its payset as one flat list", () => {
  const { header } = splitBlock(vectors.bytes("go-algorand/blocks/x-0.msgpack")) as { header: MsgpackMap };
  expect(flatRoot()).toEqual(header.get("txn"));
});

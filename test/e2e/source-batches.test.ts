import { type Sandbox, startSandbox } from "@attestd/sandbox";
import algosdk from "algosdk";
import { createPublicClient, createWalletClient, type Hex, http } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { base } from "viem/chains";
import { afterAll, beforeAll, expect, test } from "vitest";
import { AlgorandSource } from "../../packages/service/src/chains/algorand/source.ts";
import { BaseSource } from "../../packages/service/src/chains/base/source.ts";
import type { SourceChain } from "../../packages/service/src/chains/chain.ts";
import { Algod } from "../../packages/service/src/providers/algod.ts";
import { EthereumRpc } from "../../packages/service/src/providers/ethereum-rpc.ts";
import { Indexer } from "../../packages/service/src/providers/indexer.ts";

/* What several transactions cost the nodes when they are read together: anvil, and the sandbox's algod and indexer. */

const PER_BLOCK = 30;
const never = new AbortController().signal;
const rules = { onConflict: () => undefined };
let sandbox: Sandbox;
let requests = 0;
beforeAll(async () => {
  const onRequest = () => {
    requests += 1;
  };
  sandbox = await startSandbox({ networks: ["base"], roundMs: 0, baseBlockMs: 1_000, onRequest });
});
afterAll(() => sandbox?.close());

/** Reads transactions one by one, then together. @returns the requests of each way */
async function compare(source: SourceChain, ids: readonly string[]) {
  // The first request of all asks a node for its network.
  await source.transaction(ids[0] as string, never);
  requests = 0;
  const alone = new Map<string, unknown>();
  for (const id of ids) alone.set(id, await source.transaction(id, never));
  const singly = requests;
  requests = 0;
  const found = await source.transactions(ids, never);
  // Each may have become final meanwhile.
  const levels = { level: expect.any(String) };
  for (const [id, one] of alone) expect(found.get(id)).toEqual({ ...(one as object), ...levels });
  return { singly, together: requests };
}

test("Base: at most a fifth of the requests where transactions share blocks", async () => {
  const transport = http(sandbox.baseRpcUrl);
  const account = privateKeyToAccount(sandbox.payers.base?.privateKey as Hex);
  const wallet = createWalletClient({ account, chain: base, transport });
  const chain = createPublicClient({ chain: base, transport });
  const nonce = await chain.getTransactionCount({ address: account.address });
  const send = (n: number) =>
    wallet.sendTransaction({
      to: account.address,
      value: 1n,
      nonce: nonce + n,
      gas: 21_000n,
      maxFeePerGas: 2n * 10n ** 9n,
    });
  const hashes = await Promise.all(Array.from({ length: PER_BLOCK }, (_, n) => send(n)));
  const waiting = hashes.map((hash) => chain.waitForTransactionReceipt({ hash, pollingInterval: 100 }));
  const blocks = new Set((await Promise.all(waiting)).map(({ blockNumber }) => blockNumber));
  const source = new BaseSource({ nodes: { rpcs: [new EthereumRpc({ url: sandbox.baseRpcUrl ?? "" }, 8453)], rules } });
  const { singly, together } = await compare(source, hashes);
  expect(blocks.size).toBeLessThan(5);
  expect([singly, together]).toEqual([6 * PER_BLOCK, 6]);
});

test("Algorand: at most a fifth of the requests where transactions share blocks", async () => {
  const algod = new algosdk.Algodv2("", sandbox.algodUrl, new URL(sandbox.algodUrl).port);
  const { addr, sk } = algosdk.mnemonicToSecretKey(sandbox.payers.algorand.mnemonic);
  const suggestedParams = await algod.getTransactionParams().do();
  const ids: string[] = [];
  for (const round of [0, 1]) {
    for (let n = 0; n < PER_BLOCK; n++) {
      const note = new TextEncoder().encode(`${round} ${n}`);
      const fields = { sender: addr, receiver: addr, amount: 0, note, suggestedParams };
      const payment = algosdk.makePaymentTxnWithSuggestedParamsFromObject(fields);
      await algod.sendRawTransaction(payment.signTxn(sk)).do();
      ids.push(payment.txID());
    }
    sandbox.algorand.ledger.advance();
  }
  const nodes = {
    algods: [new Algod({ url: sandbox.algodUrl }, sandbox.genesisHash)],
    indexers: [new Indexer({ url: sandbox.indexerUrl })],
    rules,
  };
  const { singly, together } = await compare(new AlgorandSource({ nodes, caip2: sandbox.ledgerCaip2 }), ids);
  // Status, pending, block.
  expect(singly).toBe(3 * ids.length);
  // A look-up and a block for each round, and a look-up too many at most.
  expect(together).toBeLessThanOrEqual(2 * 3 + 2);
});

import { createPrivateKey, sign } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import { itemBundles, type KeyHistory, parseBatch, verify } from "@attestd/proof";
import type { Sandbox } from "@attestd/sandbox";
import algosdk from "algosdk";
import { createPublicClient, createWalletClient, type Hex, http, toHex } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { base } from "viem/chains";
import { expect } from "vitest";
import type { Answer } from "./deployment.ts";

/** Transactions of one group, which algod takes at once. */
const GROUP = 16;
/** Transactions that are sent to Base at once. */
const SENT_AT_ONCE = 50;

/** Pays nothing to itself so many times on the sandbox's Algorand. @returns the confirmed ids, in their order */
export async function algorandSources({ algodUrl, payers }: Sandbox, count: number): Promise<string[]> {
  const algod = new algosdk.Algodv2("", algodUrl, new URL(algodUrl).port);
  const { addr, sk } = algosdk.mnemonicToSecretKey(payers.algorand.mnemonic);
  // The SDK's own signatures, in JavaScript, would take most of the test's time.
  const key = createPrivateKey({ key: sk.subarray(0, 32), format: "raw-private", asymmetricKeyType: "ed25519" });
  const suggestedParams = await algod.getTransactionParams().do();
  const made = Array.from({ length: count }, (_, i) =>
    algosdk.makePaymentTxnWithSuggestedParamsFromObject({
      sender: addr,
      receiver: addr,
      amount: 0,
      note: Buffer.from(`source ${i} ${crypto.randomUUID()}`),
      suggestedParams,
    }),
  );
  const ids: string[] = [];
  for (let i = 0; i < made.length; i += GROUP) {
    const group = made.slice(i, i + GROUP);
    if (group.length > 1) algosdk.assignGroupID(group);
    ids.push(...group.map((transaction) => transaction.txID()));
    const signed = group.map((one) => one.attachSignature(addr, sign(null, one.bytesToSign(), key)));
    await algod.sendRawTransaction(signed).do();
  }
  await algosdk.waitForConfirmation(algod, ids.at(-1) ?? "", 20);
  return ids;
}

/**
 * Sends nothing to itself so many times on the sandbox's Base.
 *
 * @param bytes of call data that each has
 * @returns the ids, which are safe, in their order
 */
export async function baseSources({ baseRpcUrl, payers }: Sandbox, count: number, bytes = 0): Promise<string[]> {
  const transport = http(baseRpcUrl);
  const account = privateKeyToAccount(payers.base?.privateKey as Hex);
  const wallet = createWalletClient({ account, chain: base, transport });
  const chain = createPublicClient({ chain: base, transport });
  const first = await chain.getTransactionCount({ address: account.address, blockTag: "pending" });
  const ids: Hex[] = [];
  for (let i = 0; i < count; i += SENT_AT_ONCE) {
    const some = Array.from({ length: Math.min(SENT_AT_ONCE, count - i) }, (_, k) => first + i + k);
    const sent = some.map((nonce) =>
      wallet.sendTransaction({
        to: account.address,
        value: 0n,
        nonce,
        gas: 21_000n + 45n * BigInt(bytes),
        ...(bytes > 0 && { data: toHex(new Uint8Array(bytes).fill(0xab)) }),
        maxFeePerGas: 2_000_000_000n,
        maxPriorityFeePerGas: 1n,
        type: "eip1559",
      }),
    );
    ids.push(...(await Promise.all(sent)));
  }
  const { blockNumber } = await chain.waitForTransactionReceipt({ hash: ids.at(-1) as Hex, pollingInterval: 50 });
  await untilSafe(baseRpcUrl, blockNumber);
  return ids;
}

/** Resolves once a block of the sandbox's Base is safe. */
export async function untilSafe(baseRpcUrl: string | undefined, height: bigint): Promise<void> {
  const chain = createPublicClient({ chain: base, transport: http(baseRpcUrl) });
  while ((await chain.getBlock({ blockTag: "safe" })).number < height) await setTimeout(20);
}

/** Pays nothing on both chains so many times in all. @returns the confirmed ids, one chain's and the other's in turn */
export async function sourcesOfBoth(sandbox: Sandbox, count: number): Promise<string[]> {
  const [even, odd] = await Promise.all([
    algorandSources(sandbox, Math.ceil(count / 2)),
    baseSources(sandbox, Math.floor(count / 2)),
  ]);
  return even.flatMap((id, n) => [id, ...odd.slice(n, n + 1)]);
}

/** Requires a bought batch to have these transactions, and those at the edges of its tree, whose paths differ in length, to verify. */
export async function requireEdges({ status, text }: Answer, ids: readonly string[], trust: KeyHistory): Promise<void> {
  expect(status, text.slice(0, 500)).toBe(200);
  const answer = parseBatch(text);
  expect(answer.items.map(({ statement }) => statement.txnId)).toEqual(ids);
  const edges = [0, 127, 128, ids.length - 2, ids.length - 1];
  for (const item of itemBundles(answer).filter((_, n) => edges.includes(n)))
    expect(verify(JSON.stringify(item), { trust })).toMatchObject({ verified: true });
}

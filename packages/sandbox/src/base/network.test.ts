import {
  concatHex,
  createPublicClient,
  type Hex,
  http,
  keccak256,
  numberToHex,
  parseAbi,
  parseEther,
  parseGwei,
  type TransactionSerializable,
  toRlp,
} from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { serializeTransaction } from "viem/op-stack";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { jsonRpcClient, type RpcCall } from "../jsonrpc.ts";
import { type BaseNetwork, startBase } from "./network.ts";

let base: BaseNetwork;
let call: RpcCall;

beforeAll(async () => {
  base = await startBase({ blockMs: 100 });
  call = jsonRpcClient(base.rpcUrl);
});
afterAll(() => base.close());

type Block = Record<string, Hex> & { transactions: Hex[] };
const blockAt = (tag: string) => call("eth_getBlockByNumber", [tag, false]) as Promise<Block>;
const numberAt = async (tag: string) => Number((await blockAt(tag)).number);

test("has Base's chain id, and none of anvil's own accounts", async () => {
  expect(await call("eth_chainId", [])).toBe("0x2105");
  expect(await call("eth_accounts", [])).toEqual([]);
  const known = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266";
  expect(await call("eth_getBalance", [known, "latest"])).toBe("0x0");
});

test("the sample is a transfer of 25 USDC, finalized before the network is served", async () => {
  const fresh = await startBase({ blockMs: 60_000 });
  try {
    const client = createPublicClient({ transport: http(fresh.rpcUrl) });
    const receipt = await client.getTransactionReceipt({ hash: fresh.sample.hash });
    expect(receipt).toMatchObject({ status: "success", blockNumber: BigInt(fresh.sample.height) });
    expect(receipt.logs).toMatchObject([
      { address: fresh.usdc.address.toLowerCase(), data: numberToHex(25_000_000, { size: 32 }) },
    ]);
    const finalized = await client.getBlock({ blockTag: "finalized" });
    expect(finalized.number).toBeGreaterThanOrEqual(receipt.blockNumber);
  } finally {
    await fresh.close();
  }
});

test("the payer holds 1 ETH and 1,000 USDC, under keys that no other sandbox has", async () => {
  const client = createPublicClient({ transport: http(base.rpcUrl) });
  const abi = parseAbi(["function balanceOf(address) view returns (uint256)"]);
  const { address } = base.payer;
  expect(await client.getBalance({ address })).toBe(parseEther("1"));
  expect(
    await client.readContract({ address: base.usdc.address, abi, functionName: "balanceOf", args: [address] }),
  ).toBe(1_000_000_000n);
  const other = await startBase();
  await other.close();
  expect(other.payer.privateKey).not.toBe(base.payer.privateKey);
});

test("safe and finalized follow the newest block at one and two blocks", async () => {
  const { height } = base.sample;
  for (const tag of ["latest", "safe", "finalized"]) {
    const before = await numberAt(tag);
    expect(before).toBeGreaterThanOrEqual(height);
    await expect.poll(() => numberAt(tag), { timeout: 30_000 }).toBeGreaterThan(before);
  }
  const distances = async () => {
    const latest = await numberAt("latest");
    return [latest - (await numberAt("safe")), latest - (await numberAt("finalized"))];
  };
  // Asked again if a block came in between.
  await expect.poll(distances, { timeout: 30_000 }).toEqual([1, 2]);
});

test("block headers have the hashes of their blocks", async () => {
  const block = await blockAt(numberToHex(base.sample.height));
  const bytes = ["parentHash", "sha3Uncles", "miner", "stateRoot", "transactionsRoot", "receiptsRoot", "logsBloom"];
  const quantities = ["difficulty", "number", "gasLimit", "gasUsed", "timestamp"];
  const items = [
    ...bytes.map((name) => block[name]),
    ...quantities.map((name) => rlpQuantity(block[name])),
    ...["extraData", "mixHash", "nonce"].map((name) => block[name]),
    rlpQuantity(block.baseFeePerGas),
    block.withdrawalsRoot,
    ...["blobGasUsed", "excessBlobGas"].map((name) => rlpQuantity(block[name])),
    ...["parentBeaconBlockRoot", "requestsHash"].map((name) => block[name]),
  ];
  expect(keccak256(toRlp(items as Hex[]))).toBe(block.hash);
});

describe("blocks as Base makes them since Denim", () => {
  type Full = { number: Hex; timestamp: Hex; transactions: { hash: Hex; type: string; to: Hex; input: Hex }[] };
  let denim: BaseNetwork;
  let ask: RpcCall;
  const whole = (number: number) => ask("eth_getBlockByNumber", [numberToHex(number), true]) as Promise<Full>;
  const head = async () => Number(await ask("eth_blockNumber", []));

  beforeAll(async () => {
    denim = await startBase({ denim: true });
    ask = jsonRpcClient(denim.rpcUrl);
  });
  afterAll(() => denim.close());

  /**
   * Expects two deposits and then `count` other transactions. @returns the block's time in milliseconds, with
   * BaseTime's part
   */
  function timeOf({ timestamp, transactions: [attributes, baseTime, ...others] }: Full): number {
    expect(attributes).toMatchObject({ type: "0x7e", to: "0x4200000000000000000000000000000000000015" });
    expect(baseTime).toMatchObject({ type: "0x7e", to: "0x4200000000000000000000000000000000000030" });
    expect(others.filter(({ type }) => type === "0x7e")).toEqual([]);
    const part = Number(`0x${baseTime?.input.replace(/^0x86bdf394/, "")}`);
    expect([0, 200, 400, 600, 800]).toContain(part);
    return Number(timestamp) * 1000 + part;
  }

  test("begin with two deposits, of which the second has the milliseconds of a clock of 200 ms", async () => {
    const first = denim.sample.height;
    await expect.poll(head, { timeout: 30_000 }).toBeGreaterThanOrEqual(first + 12);
    const times = (await Promise.all(Array.from({ length: 12 }, (_, i) => whole(first + i)))).map(timeOf);
    expect(times).toEqual([...new Set(times)].toSorted((a, b) => a - b));
    expect(new Set(times.map((time) => Math.floor(time / 1000))).size).toBeLessThan(12);
    expect(timeOf(await whole(await head()))).toBeLessThanOrEqual(Date.now() + 1000);
  });

  test("keep the deposits first under transactions and asked-for blocks at any moment", async () => {
    const account = privateKeyToAccount(denim.payer.privateKey);
    const request = { chainId: 8453, to: account.address, gas: 21_000n, maxFeePerGas: parseGwei("5") } as const;
    const first = await head();
    const raws = await Promise.all(
      [...Array(40).keys()].map((nonce) => account.signTransaction({ ...request, nonce })),
    );
    const hashes: unknown[] = [];
    for (const [index, raw] of raws.entries()) {
      hashes.push(await ask("eth_sendRawTransaction", [raw]));
      if (index % 8 === 7) await ask("evm_mine", []);
    }
    const blocks = await Promise.all(Array.from({ length: (await head()) - first }, (_, i) => whole(first + 1 + i)));
    for (const block of blocks) timeOf(block);
    expect(blocks.flatMap(({ transactions }) => transactions.slice(2).map(({ hash }) => hash))).toEqual(hashes);
  });
});

test("a batch is answered in order", async () => {
  const batch = ["eth_chainId", "eth_nothing", "eth_getRawTransactionByHash"].map((method, id) => ({
    jsonrpc: "2.0",
    id,
    method,
    params: method === "eth_chainId" ? [] : [base.sample.hash],
  }));
  const response = await fetch(base.rpcUrl, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(batch),
  });
  const answers = (await response.json()) as { id: number; result?: Hex; error?: { code: number } }[];
  expect(answers.map(({ id }) => id)).toEqual([0, 1, 2]);
  expect(answers[0]?.result).toBe("0x2105");
  expect(answers[1]?.error?.code).toBe(-32601);
  expect(keccak256(answers[2]?.result ?? "0x")).toBe(base.sample.hash);
});

describe("a deposit", () => {
  const deposit = {
    type: "deposit",
    sourceHash: keccak256("0x01"),
    from: "0x1111111111111111111111111111111111111111",
    to: "0x2222222222222222222222222222222222222222",
    mint: 7n,
    value: 5n,
    gas: 50_000n,
    isSystemTx: false,
    data: "0xc0ffee",
  } as const;
  const raw = serializeTransaction(deposit);
  const hash = keccak256(raw);
  let block: Block;

  beforeAll(async () => {
    expect(await call("eth_sendRawTransaction", [raw])).toBe(hash);
    await call("evm_mine", []);
    const receipt = (await call("eth_getTransactionReceipt", [hash])) as { blockHash: Hex; status: Hex };
    expect(receipt.status).toBe("0x1");
    block = (await call("eth_getBlockByHash", [receipt.blockHash, false])) as Block;
  });

  test("is refused by every method that returns its bytes, and anvil keeps running", async () => {
    const index = numberToHex(block.transactions.indexOf(hash));
    for (const [method, params] of rawMethods(hash, block.hash, block.number, index)) {
      await expect(call(method, params), method).rejects.toMatchObject({
        code: -32000,
        message: "the bytes of a deposit transaction are not available",
      });
    }
    expect(await call("eth_chainId", [])).toBe("0x2105");
  });

  test("can be rebuilt from its JSON", async () => {
    const { sourceHash, from, to, mint, value, gas, input } = (await call("eth_getTransactionByHash", [hash])) as Block;
    const items = [sourceHash, from, to, ...[mint, value, gas].map(rlpQuantity), "0x", input];
    expect(keccak256(concatHex(["0x7e", toRlp(items as Hex[])]))).toBe(hash);
  });
});

test("every method returns the exact bytes of legacy, EIP-2930, EIP-1559 and EIP-7702 transactions", async () => {
  const account = privateKeyToAccount(base.facilitator.privateKey);
  const fees = { maxFeePerGas: parseGwei("5"), maxPriorityFeePerGas: 1n };
  const gasPrice = parseGwei("5");
  const authorization = await account.signAuthorization({ chainId: 8453, address: base.usdc.address, nonce: 4 });
  const kinds = [
    { type: "legacy", gasPrice },
    { type: "eip2930", gasPrice, accessList: [{ address: base.usdc.address, storageKeys: [keccak256("0x01")] }] },
    { type: "eip1559", ...fees },
    { type: "eip7702", ...fees, authorizationList: [authorization] },
  ] as const;
  for (const [nonce, kind] of kinds.entries()) {
    const request = { ...kind, chainId: 8453, nonce, to: base.payTo.address, value: 1n, gas: 100_000n };
    const raw = await account.signTransaction(request as TransactionSerializable);
    const hash = await call("eth_sendRawTransaction", [raw]);
    await call("evm_mine", []);
    const receipt = (await call("eth_getTransactionReceipt", [hash])) as Record<string, Hex>;
    const { blockHash, blockNumber, transactionIndex } = receipt;
    for (const [method, params] of rawMethods(hash, blockHash, blockNumber, transactionIndex)) {
      expect(await call(method, params), `${kind.type} by ${method}`).toBe(raw);
    }
  }
  expect(await call("eth_getRawTransactionByHash", [keccak256("0x02")])).toBeNull();
});

/** Returns every way to ask for one transaction's bytes. */
function rawMethods(hash: unknown, blockHash: unknown, blockNumber: unknown, index: unknown): [string, unknown[]][] {
  return [
    ["eth_getRawTransactionByHash", [hash]],
    ["debug_getRawTransaction", [hash]],
    ["eth_getRawTransactionByBlockHashAndIndex", [blockHash, index]],
    ["eth_getRawTransactionByBlockNumberAndIndex", [blockNumber, index]],
  ];
}

/** RLP's form of a number: big-endian, no leading zeros. */
function rlpQuantity(quantity: Hex | undefined): Hex {
  const hex = BigInt(quantity ?? 0).toString(16);
  return hex === "0" ? "0x" : `0x${hex.padStart(hex.length + (hex.length % 2), "0")}`;
}

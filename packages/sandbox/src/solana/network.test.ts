import { zstdDecompressSync } from "node:zlib";
import {
  type Address,
  address,
  type Base64EncodedWireTransaction,
  createKeyPairSignerFromBytes,
  createSolanaRpc,
  mainnet,
  type Signature,
} from "@solana/kit";
import { toFacilitatorSvmSigner } from "@x402/svm";
import { ExactSvmScheme } from "@x402/svm/exact/client";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type SolanaKey, type SolanaNetwork, startSolana } from "./network.ts";
import { associatedTokenAddress, uiTokenAmount } from "./token.ts";

const NETWORK = "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp";

let solana: SolanaNetwork;
let rpc: ReturnType<typeof connect>;

const connect = (url: string) => createSolanaRpc(mainnet(url));

beforeAll(async () => {
  solana = await startSolana({ slotMs: 20 });
  rpc = connect(solana.rpcUrl);
});
afterAll(() => solana.close());

const signerOf = ({ secretKeyBase64 }: SolanaKey) =>
  createKeyPairSignerFromBytes(Buffer.from(secretKeyBase64, "base64"));

/** Makes a stock client's payment, also signed by the fee payer and not sent. */
async function payment(amount = "1000"): Promise<Base64EncodedWireTransaction> {
  const scheme = new ExactSvmScheme(await signerOf(solana.payer), { rpcUrl: solana.rpcUrl });
  const { payload } = await scheme.createPaymentPayload(2, {
    scheme: "exact",
    network: NETWORK,
    asset: solana.usdc,
    amount,
    payTo: solana.payTo.address,
    maxTimeoutSeconds: 60,
    extra: { feePayer: solana.feePayer.address },
  });
  const signer = toFacilitatorSvmSigner(await signerOf(solana.feePayer), { defaultRpcUrl: solana.rpcUrl });
  const { address } = solana.feePayer;
  return (await signer.signTransaction(String(payload.transaction), address, NETWORK)) as Base64EncodedWireTransaction;
}

const send = (wire: Base64EncodedWireTransaction, skipPreflight = false) =>
  rpc.sendTransaction(wire, { encoding: "base64", skipPreflight }).send();

async function settled(signature: Signature, commitment: string): Promise<void> {
  const status = async () => (await rpc.getSignatureStatuses([signature]).send()).value[0]?.confirmationStatus;
  await expect.poll(status, { timeout: 30_000 }).toBe(commitment);
}

describe("identifies itself", () => {
  test("by MainNet's CAIP-2 reference, with its own genesis hash", async () => {
    const genesis = await rpc.getGenesisHash().send();
    expect(`solana:${genesis.slice(0, 32)}`).toBe(NETWORK);
    expect(address(genesis)).not.toBe("5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d");
    const other = await startSolana();
    expect(await connect(other.rpcUrl).getGenesisHash().send()).not.toBe(genesis);
    await other.close();
  });

  test("as a sandbox in its version", async () => {
    expect(await rpc.getVersion().send()).toMatchObject({ "solana-core": "0.0.0-attestd-sandbox" });
    expect(await rpc.getHealth().send()).toBe("ok");
  });
});

describe("accounts", () => {
  test("are funded, and returned parsed when a stock client requests it", async () => {
    const { value } = await rpc.getAccountInfo(solana.usdc, { encoding: "jsonParsed" }).send();
    expect(value?.data).toMatchObject({ program: "spl-token", parsed: { type: "mint", info: { decimals: 6 } } });
    for (const [owner, amount] of [
      [solana.payer.address, 1_000_000_000n],
      [solana.feePayer.address, 0n],
    ] as const) {
      const account = await associatedTokenAddress(owner);
      const tokenAmount = uiTokenAmount(amount, 6);
      const info = await rpc.getAccountInfo(account, { encoding: "jsonParsed" }).send();
      expect(info.value?.data).toMatchObject({
        parsed: { info: { owner, mint: solana.usdc, tokenAmount } },
        space: 165n,
      });
    }
    expect((await rpc.getBalance(solana.payer.address).send()).value).toBe(100_000_000_000n);
  });

  test("are returned in the requested encoding", async () => {
    const account = await associatedTokenAddress(solana.payTo.address);
    const { value } = await rpc.getAccountInfo(account, { encoding: "base64" }).send();
    expect(value).toMatchObject({ space: 165n, executable: false, rentEpoch: 18446744073709551615n });
    expect(Buffer.from(value?.data[0] ?? "", "base64")).toHaveLength(165);
    await expect(rpc.getAccountInfo(account).send()).rejects.toThrow("should be less than 128 bytes");
    const packed = await rpc.getAccountInfo(account, { encoding: "base64+zstd" }).send();
    expect(packed.value?.data[1]).toBe("base64+zstd");
    expect(zstdDecompressSync(Buffer.from(packed.value?.data[0] ?? "", "base64")).toString("base64")).toBe(
      value?.data[0],
    );
    const slice = { encoding: "base58", dataSlice: { offset: 0, length: 32 } } as const;
    expect((await rpc.getAccountInfo(account, slice).send()).value?.data[0]).toBe(solana.usdc);
    expect((await rpc.getAccountInfo(solana.payer.address, { encoding: "jsonParsed" }).send()).value?.data).toEqual([
      "",
      "base64",
    ]);
  });

  test("that do not exist are null, and an error when their token balance is requested", async () => {
    const missing = address("So11111111111111111111111111111111111111119");
    const { value } = await rpc.getMultipleAccounts([missing, solana.usdc], { encoding: "base64" }).send();
    expect([value[0], value[1]?.space]).toEqual([null, 82n]);
    await expect(rpc.getTokenAccountBalance(missing).send()).rejects.toThrow("could not find account");
    await expect(rpc.getTokenAccountBalance(solana.usdc).send()).rejects.toThrow("not a Token account");
    await expect(rpc.getAccountInfo("nonsense" as Address).send()).rejects.toThrow("WrongSize");
  });
});

test("every slot has a new height, time and blockhash", async () => {
  const before = await rpc.getLatestBlockhash({ commitment: "processed" }).send();
  const slot = () => rpc.getSlot({ commitment: "processed" }).send();
  await expect.poll(slot, { timeout: 30_000 }).toBeGreaterThan(before.context.slot);
  const after = await rpc.getLatestBlockhash({ commitment: "processed" }).send();
  expect(after.value.blockhash).not.toBe(before.value.blockhash);
  const height = await rpc.getBlockHeight({ commitment: "processed" }).send();
  expect(height).toBeLessThan(await slot());
  expect(before.value.lastValidBlockHeight).toBeGreaterThanOrEqual(height);
  expect(await rpc.getSlot().send()).toBeLessThan(await slot());
  expect(Number(await rpc.getBlockTime(before.context.slot).send())).toBeGreaterThan(1_700_000_000);
  await expect(rpc.getBlockTime(1n).send()).rejects.toThrow("Block not available for slot 1");
});

test("a settled payment is listed under its payer's token account, with its bytes and both balances", async () => {
  const wire = await payment();
  const signature = await send(wire);
  await settled(signature, "finalized");

  const source = await associatedTokenAddress(solana.payer.address);
  const [found] = await rpc.getSignaturesForAddress(source, { limit: 1 }).send();
  expect(found).toMatchObject({ signature, err: null, confirmationStatus: "finalized" });
  expect(found?.memo).toMatch(/^\[32\] [0-9a-f]{32}$/);
  const transaction = await rpc
    .getTransaction(signature, { encoding: "base64", maxSupportedTransactionVersion: 0 })
    .send();
  expect(transaction).toMatchObject({
    slot: found?.slot,
    blockTime: found?.blockTime,
    transaction: [wire, "base64"],
  });
  expect(transaction?.meta).toMatchObject({ err: null, fee: 10_001n });
  const { preTokenBalances = [], postTokenBalances = [] } = transaction?.meta ?? {};
  const held = (balances: typeof preTokenBalances, owner: Address) =>
    BigInt(balances.find((balance) => balance.owner === owner)?.uiTokenAmount.amount ?? 0);
  const change = (owner: Address) => held(postTokenBalances, owner) - held(preTokenBalances, owner);
  expect(change(solana.payer.address)).toBe(-1000n);
  expect(change(solana.payTo.address)).toBe(1000n);
});

test("a version 0 transaction is returned only to callers that support the version", async () => {
  const signature = await send(await payment());
  await settled(signature, "confirmed");
  await expect(rpc.getTransaction(signature, { commitment: "confirmed", encoding: "json" }).send()).rejects.toThrow(
    "Transaction version (0) is not supported",
  );
  const config = { commitment: "confirmed", encoding: "json", maxSupportedTransactionVersion: 0 } as const;
  const transaction = await rpc.getTransaction(signature, config).send();
  expect(transaction?.transaction.signatures[0]).toBe(signature);
  expect(transaction?.transaction.message.accountKeys[0]).toBe(solana.feePayer.address);
});

test("signatures of an account are listed newest first, in pages", async () => {
  const signatures: Signature[] = [];
  for (let count = 0; count < 3; count++) signatures.unshift(await send(await payment()));
  await settled(signatures[0] as Signature, "confirmed");
  const page = (config: { limit?: number; before?: Signature | undefined; until?: Signature | undefined }) =>
    rpc.getSignaturesForAddress(solana.payer.address, { commitment: "confirmed", ...config } as never).send();
  const names = async (config: Parameters<typeof page>[0]) => (await page(config)).map(({ signature }) => signature);
  expect(await names({ limit: 3 })).toEqual(signatures);
  expect(await names({ limit: 1, before: signatures[0] })).toEqual([signatures[1]]);
  expect(await names({ until: signatures[2] })).toEqual(signatures.slice(0, 2));
});

test("a version 1 transaction is listed with an account's others, and returned only to callers that support the version", async () => {
  const source = await associatedTokenAddress(solana.payer.address);
  const old = async () => (await rpc.getSignaturesForAddress(source).send()).length;
  await expect.poll(old, { timeout: 30_000 }).toBeGreaterThanOrEqual(3);
  const listed = await rpc.getSignaturesForAddress(source).send();
  const [oldest] = listed.toReversed();
  expect(oldest).toMatchObject({ err: null, memo: null });
  const shown = (version: 0) =>
    rpc
      .getTransaction(oldest?.signature as Signature, { encoding: "base64", maxSupportedTransactionVersion: version })
      .send();
  await expect(shown(0)).rejects.toMatchObject({ context: { __code: -32015 } });
  const transaction = await shown(1 as 0);
  expect(transaction).toMatchObject({ version: 1, meta: { err: null } });
  expect(Buffer.from(transaction?.transaction[0] ?? "", "base64")[0]).toBe(0x81);
});

test("a request with a later minContextSlot is refused", async () => {
  const { context } = await rpc.getLatestBlockhash({ commitment: "finalized" }).send();
  const minContextSlot = context.slot + 1_000n;
  const refused = { context: { __code: -32016 } };
  const { blockhash } = (await rpc.getLatestBlockhash().send()).value;
  await expect(rpc.isBlockhashValid(blockhash, { minContextSlot }).send()).rejects.toMatchObject(refused);
  await expect(
    rpc.getSignaturesForAddress(solana.payer.address, { commitment: "confirmed", minContextSlot }).send(),
  ).rejects.toMatchObject(refused);
  expect(await rpc.isBlockhashValid(blockhash, { minContextSlot: context.slot }).send()).toMatchObject({ value: true });
});

test("recent prioritization fees are zero for each of the last 150 slots", async () => {
  const fees = await rpc.getRecentPrioritizationFees([solana.payer.address]).send();
  expect(fees.length).toBeGreaterThan(30);
  expect(fees.length).toBeLessThanOrEqual(150);
  expect(new Set(fees.map(({ prioritizationFee }) => prioritizationFee))).toEqual(new Set([0n]));
  expect(new Set(fees.map(({ slot }) => slot)).size).toBe(fees.length);
});

describe("sending", () => {
  test("fails with a validator's error when the simulation fails", async () => {
    await expect(send(await payment("5000000000"))).rejects.toMatchObject({
      context: { __code: -32002 },
      cause: { context: { index: 2, code: 1 } },
    });
    const wire = await payment();
    await send(wire);
    await expect(send(wire)).rejects.toMatchObject({ context: { __code: -32002 } });
  });

  test("checks signatures, and with skipPreflight drops a transaction whose signature is invalid", async () => {
    const forged = Buffer.from(await payment(), "base64");
    forged.fill(7, 1, 65);
    const wire = forged.toString("base64") as Base64EncodedWireTransaction;
    await expect(send(wire)).rejects.toThrow("signature verification failure");
    await expect(rpc.simulateTransaction(wire, { encoding: "base64", sigVerify: true }).send()).rejects.toThrow(
      "signature verification failure",
    );
    const signature = await send(wire, true);
    expect((await rpc.getSignatureStatuses([signature]).send()).value).toEqual([null]);
  });

  test("refuses bytes that are not a transaction", async () => {
    await expect(send("AAAA" as Base64EncodedWireTransaction)).rejects.toThrow("invalid transaction");
  });
});

test("amounts are written in whole tokens without rounding", () => {
  expect(uiTokenAmount(0n, 6)).toMatchObject({ amount: "0", uiAmountString: "0" });
  expect(uiTokenAmount(1n, 6)).toMatchObject({ uiAmountString: "0.000001" });
  expect(uiTokenAmount(25_500_000n, 6)).toMatchObject({ uiAmount: 25.5, uiAmountString: "25.5" });
  expect(uiTokenAmount(7n, 0)).toMatchObject({ uiAmountString: "7" });
});

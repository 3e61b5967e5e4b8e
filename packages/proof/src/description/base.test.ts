import fc from "fast-check";
import {
  type Address,
  decodeFunctionData,
  encodeFunctionData,
  getAddress,
  getContractAddress,
  type Hex,
  parseAbi,
  parseTransaction,
  recoverTransactionAddress,
  type TransactionSerialized,
  toFunctionSelector,
} from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { describe, expect, it } from "vitest";
import { recordedBaseBlock } from "../../test/recorded.ts";
import { vectors } from "../../test/vectors.ts";
import { ALGORAND_MAINNET } from "../algorand/network.ts";
import { fromHex } from "../encoding.ts";
import { RAILS } from "../rails.ts";
import { describeBaseTransaction } from "./base.ts";

const USDC = RAILS.base.usdc;
const TOKEN = parseAbi([
  "function transfer(address to, uint256 value)",
  "function transferFrom(address from, address to, uint256 value)",
  "function approve(address spender, uint256 value)",
  "function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)",
  "function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes signature)",
  "function receiveWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)",
  "function receiveWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes signature)",
  "function permit(address owner, address spender, uint256 value, uint256 deadline, uint8 v, bytes32 r, bytes32 s)",
  "function permit(address owner, address spender, uint256 value, uint256 deadline, bytes signature)",
]);

const bytesOf = (hex: string) => fromHex(hex.slice(2));
const describeHex = (hex: string, ledger: string = ALGORAND_MAINNET) => describeBaseTransaction(bytesOf(hex), ledger);
const address = (seed: number): Address => getAddress(`0x${seed.toString(16).padStart(2, "0").repeat(20)}`);
const [PAYER, PAYEE, SPENDER] = [address(0xa1), address(0xb2), address(0xc3)];
const signer = privateKeyToAccount(`0x${"46".repeat(32)}`);
const COMMON = { chainId: 8453, nonce: 9, gas: 60_000n, maxFeePerGas: 2n, maxPriorityFeePerGas: 1n } as const;

const signed = (to: Address | null, data: Hex, value = 0n, chainId = 8453) =>
  signer.signTransaction({ ...COMMON, chainId, type: "eip1559", to, data, value });
const usdcCall = async (data: Hex) => describeHex(await signed(USDC, data));

describe("the sender of a transaction on Base", () => {
  it("is the one that viem recovers, of every transaction of a recorded block", async () => {
    for (const raw of recordedBaseBlock.transactions)
      expect(describeHex(raw).sender).toBe(
        await recoverTransactionAddress({ serializedTransaction: raw as TransactionSerialized }),
      );
  });

  const hex = (bytes: number) =>
    fc.uint8Array({ minLength: bytes, maxLength: bytes }).map((some): Hex => `0x${Buffer.from(some).toString("hex")}`);
  const fees = { gasPrice: fc.bigInt(0n, 2n ** 60n), maxFeePerGas: fc.bigInt(2n ** 30n, 2n ** 60n) };

  it("is who signed it with viem, of every type", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom("unbound", "legacy", "eip2930", "eip1559", "eip4844", "eip7702"),
        fc.record({
          nonce: fc.nat(),
          gas: fc.bigInt(0n, 2n ** 40n),
          value: fc.bigInt(0n, 2n ** 200n),
          to: hex(20),
          data: fc.nat(100).chain(hex),
        }),
        fc.record(fees),
        fc.array(fc.record({ address: hex(20), storageKeys: fc.array(hex(32), { maxLength: 2 }) }), { maxLength: 2 }),
        async (type, common, { gasPrice, maxFeePerGas }, accessList) => {
          const account = privateKeyToAccount(generatePrivateKey());
          const dynamic = { ...common, chainId: 8453, maxFeePerGas, maxPriorityFeePerGas: 1n, accessList };
          const raw = await {
            unbound: () => account.signTransaction({ ...common, type: "legacy", gasPrice }),
            legacy: () => account.signTransaction({ ...common, chainId: 8453, type: "legacy", gasPrice }),
            eip2930: () => account.signTransaction({ ...common, chainId: 8453, type: "eip2930", gasPrice, accessList }),
            eip1559: () => account.signTransaction({ ...dynamic, type: "eip1559" }),
            eip4844: () =>
              account.signTransaction({
                ...dynamic,
                type: "eip4844",
                maxFeePerBlobGas: 3n,
                blobVersionedHashes: [`0x01${"44".repeat(31)}`],
                sidecars: false,
              }),
            eip7702: async () => {
              const authorization = await account.signAuthorization({ address: PAYEE, chainId: 8453, nonce: 1 });
              return account.signTransaction({ ...dynamic, type: "eip7702", authorizationList: [authorization] });
            },
          }[type]();
          const described = describeHex(raw);
          expect(described.sender).toBe(account.address);
          expect(described.parties[0]).toEqual({ role: "From", account: account.address });
        },
      ),
      { numRuns: 60 },
    );
  });

  it("is not known where no chain accepts the signature", async () => {
    const parsed = parseTransaction(await signed(PAYEE, "0x", 1n));
    const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
    const word = (value: bigint): Hex => `0x${value.toString(16).padStart(64, "0")}`;
    const { r, s, yParity, ...rest } = parsed as typeof parsed & { r: Hex; s: Hex; yParity: number };
    const { serializeTransaction } = await import("viem");
    const signatures = [
      { r, s: word(order - BigInt(s)), yParity: 1 - yParity },
      { r: word(order), s, yParity },
      { r, s: word(0n), yParity },
      // x = 5 is on no point of the curve.
      { r: word(5n), s, yParity },
    ];
    for (const signature of signatures) {
      const { sender, parties, remarks } = describeHex(serializeTransaction(rest as never, signature));
      expect(sender).toBeUndefined();
      expect(parties).toEqual([{ role: "To", account: PAYEE }]);
      expect(remarks).toEqual(["Its sender is not known: its signature is not valid."]);
    }
  });
});

describe("a call of USDC on Base", () => {
  const authorization = [PAYER, PAYEE, 25_000_000n, 0n, 2n ** 40n, `0x${"11".repeat(32)}`] as const;
  const signature = [27, `0x${"22".repeat(32)}`, `0x${"33".repeat(32)}`] as const;
  const bytes: Hex = `0x${"44".repeat(65)}`;
  const submitted = { role: "Submitted by, who paid the network fee", account: signer.address };
  const between = [
    { role: "From", account: PAYER },
    { role: "To", account: PAYEE },
  ];

  it.each<[string, Hex, string, { role: string; account: string }[]]>([
    [
      "transfer",
      encodeFunctionData({ abi: TOKEN, functionName: "transfer", args: [PAYEE, 25_000_000n] }),
      "USDC transfer, 25.00 USDC",
      [
        { role: "From", account: signer.address },
        { role: "To", account: PAYEE },
      ],
    ],
    [
      "transferFrom",
      encodeFunctionData({ abi: TOKEN, functionName: "transferFrom", args: [PAYER, PAYEE, 1n] }),
      "USDC transfer, 0.000001 USDC",
      [...between, { role: "Moved by, who paid the network fee", account: signer.address }],
    ],
    ...(["transferWithAuthorization", "receiveWithAuthorization"] as const).flatMap(
      (functionName): [string, Hex, string, { role: string; account: string }[]][] => [
        [
          functionName,
          encodeFunctionData({ abi: TOKEN, functionName, args: [...authorization, ...signature] }),
          "USDC transfer, 25.00 USDC",
          [...between, submitted],
        ],
        [
          `${functionName} of a contract's wallet`,
          encodeFunctionData({ abi: TOKEN, functionName, args: [...authorization, bytes] }),
          "USDC transfer, 25.00 USDC",
          [...between, submitted],
        ],
      ],
    ),
    [
      "approve",
      encodeFunctionData({ abi: TOKEN, functionName: "approve", args: [SPENDER, 2n ** 256n - 1n] }),
      "USDC approval, unlimited USDC",
      [
        { role: "Owner", account: signer.address },
        { role: "May spend", account: SPENDER },
      ],
    ],
    [
      "permit",
      encodeFunctionData({ abi: TOKEN, functionName: "permit", args: [PAYER, SPENDER, 5_000_000n, 9n, ...signature] }),
      "USDC approval, 5.00 USDC",
      [{ role: "Owner", account: PAYER }, { role: "May spend", account: SPENDER }, submitted],
    ],
    [
      "permit of a contract's wallet",
      encodeFunctionData({ abi: TOKEN, functionName: "permit", args: [PAYER, SPENDER, 5_000_000n, 9n, bytes] }),
      "USDC approval, 5.00 USDC",
      [{ role: "Owner", account: PAYER }, { role: "May spend", account: SPENDER }, submitted],
    ],
  ])("%s is read as viem encodes it, and in no other encoding", async (_name, data, title, parties) => {
    const described = await usdcCall(data);
    expect(`${described.title}, ${described.amount?.text}`).toBe(title);
    expect(described.parties).toEqual(parties);

    const dirty = `${data.slice(0, 10)}01${data.slice(12)}` as Hex;
    const strangers: Hex[] = [`${data}00`, data.slice(0, -2) as Hex, `${data}${"00".repeat(32)}`, dirty];
    // The last word of `bytes` has 31 bytes of padding; of a static call, which has none, it is an argument.
    if (data.includes("44".repeat(65))) strangers.push(`${data.slice(0, -2)}01` as Hex);
    for (const other of strangers) expect((await usdcCall(other)).kind).toBe("contract_call");
    expect(describeHex(await signed(PAYEE, data)).kind).toBe("contract_call");
    expect(describeHex(await signed(USDC, data, 1n)).kind).toBe("contract_call");
    expect(describeHex(await signed(USDC, data, 0n, 10)).kind).toBe("contract_call");
  });

  it("reads what viem reads, and nothing that viem writes in another way", async () => {
    const word = fc
      .uint8Array({ minLength: 32, maxLength: 32 })
      .map((some): Hex => `0x${Buffer.from(some).toString("hex")}`);
    const changed = fc.option(fc.record({ at: fc.nat(), to: fc.nat(255) }), { nil: undefined, freq: 1 });
    await fc.assert(
      fc.asyncProperty(
        word,
        word,
        fc.bigInt(0n, 2n ** 256n - 1n),
        fc.nat(130),
        changed,
        async (a, b, units, size, change) => {
          const [from, to] = [a, b].map((one) => getAddress(`0x${one.slice(-40)}`)) as [Address, Address];
          const signature: Hex = `0x${"5a".repeat(size)}`;
          const args = [from, to, units, 0n, 2n ** 40n, a, signature] as const;
          const data = encodeFunctionData({ abi: TOKEN, functionName: "transferWithAuthorization", args });
          const bytes = bytesOf(data);
          if (change) bytes[4 + (change.at % (bytes.length - 4))] = change.to;
          const given: Hex = `0x${Buffer.from(bytes).toString("hex")}`;
          const { kind, amount, parties } = await usdcCall(given);
          if (!change) expect(kind).toBe("token_transfer");
          if (kind === "contract_call") return;
          // Everything that is read is the only encoding of what viem reads.
          const read = decodeFunctionData({ abi: TOKEN, data: given });
          expect(
            encodeFunctionData({
              abi: TOKEN,
              functionName: "transferWithAuthorization",
              args: read.args as typeof args,
            }),
          ).toBe(given);
          const [payer, payee, value] = read.args as typeof args;
          expect([amount?.units, parties[0]?.account, parties[1]?.account]).toEqual([String(value), payer, payee]);
        },
      ),
      { numRuns: 100 },
    );
  });

  it("reads bytes only where they follow the head", async () => {
    const data = encodeFunctionData({
      abi: TOKEN,
      functionName: "transferWithAuthorization",
      args: [...authorization, bytes],
    });
    const at = 10 + 6 * 64;
    const offset = `${data.slice(0, at)}${(7 * 32 + 32).toString(16).padStart(64, "0")}${data.slice(at + 64)}` as Hex;
    const length = `${data.slice(0, at + 64)}${"f".repeat(64)}${data.slice(at + 128)}` as Hex;
    for (const other of [offset, length]) expect((await usdcCall(other)).kind).toBe("contract_call");
  });

  it("of any other function is a contract call", async () => {
    const abi = parseAbi([
      "function multicall(bytes[] calls)",
      "function increaseAllowance(address who, uint256 value)",
    ]);
    const inner = encodeFunctionData({ abi: TOKEN, functionName: "transfer", args: [PAYEE, 25_000_000n] });
    for (const data of [
      encodeFunctionData({ abi, functionName: "multicall", args: [[inner]] }),
      encodeFunctionData({ abi, functionName: "increaseAllowance", args: [SPENDER, 1n] }),
    ]) {
      const { kind, amount, remarks } = await usdcCall(data);
      expect([kind, amount]).toEqual(["contract_call", undefined]);
      expect(remarks).toEqual(["Its bytes show the call, not what happened inside it."]);
    }
  });

  it("knows functions by the selectors of their signatures", async () => {
    const other = toFunctionSelector("function transfer(address to, uint128 value)");
    const data = encodeFunctionData({ abi: TOKEN, functionName: "transfer", args: [PAYEE, 1n] });
    expect((await usdcCall(`${other}${data.slice(10)}`)).kind).toBe("contract_call");
  });
});

describe("other transactions on Base", () => {
  it("names the contract that a deployment makes", async () => {
    const { kind, parties } = describeHex(await signed(null, "0x6001600255"));
    expect(kind).toBe("deployment");
    expect(parties).toContainEqual({
      role: "Contract",
      account: getContractAddress({ from: signer.address, nonce: BigInt(COMMON.nonce) }),
    });
  });

  it("says what may stay of a delegation of code", () => {
    // Type 4.
    const { lasting, remarks } = describeHex(recordedBaseBlock.transactions[3] as string);
    expect(lasting).toEqual([
      "Its delegations of code (EIP-7702) may have taken effect, and its network fee was paid.",
    ]);
    expect(remarks).toContain("It also carries a delegation of an account's code (EIP-7702).");
  });

  it("knows nothing of a type that is not read", () => {
    const { kind, title, deed } = describeBaseTransaction(Uint8Array.of(0x79, 1, 2), ALGORAND_MAINNET);
    expect({ kind, title, deed }).toEqual({ kind: "unknown", title: "Transaction of type 0x79", deed: undefined });
  });
});

describe("transactions of OP Stack blocks, described", () => {
  it("are from whom viem says, and of its amounts", async () => {
    for (const file of [
      "replay/base/blocks/op-sepolia-holocene-26207960.json",
      "replay/base/blocks/op-sepolia-holocene-26207961.json",
    ])
      for (const { raw } of vectors.json(file).transactions as { raw: TransactionSerialized }[]) {
        if (raw.startsWith("0x7e")) continue;
        const { sender, kind, amount } = describeHex(raw);
        expect(sender).toBe(await recoverTransactionAddress({ serializedTransaction: raw }));
        const { data = "0x", value = 0n, to } = parseTransaction(raw);
        expect(kind).toBe(to ? (data === "0x" ? "payment" : "contract_call") : "deployment");
        if (value > 0n) expect(amount?.units).toBe(String(value));
      }
  });

  it("has a deposit's sender from its JSON", () => {
    const [json] = vectors.json("base/opstack-canyon-block-274-full.json").block.transactions;
    const { kind, sender, parties } = describeHex(json.raw);
    expect([kind, sender]).toEqual(["deposit", getAddress(json.from)]);
    expect(parties).toContainEqual({ role: "Called", account: getAddress(json.to) });
  });
});

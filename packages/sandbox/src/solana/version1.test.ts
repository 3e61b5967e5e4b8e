import { createRequire } from "node:module";
import type * as Kit from "@solana/kit";
import { describe, expect, test } from "vitest";
import { createTestLedger } from "./testing.ts";
import { decodeTransaction, hasValidSignatures, memosOf } from "./transaction.ts";
import { decodeVersion1, encodeVersion1 } from "./version1.ts";

/** The kit that litesvm brings, 8.4.0: it knows version 1. */
const litesvm = createRequire(import.meta.resolve("litesvm"));
const newKit = litesvm("@solana/kit") as typeof Kit;

/** Made by @solana/kit 8.4.0 of ed25519 seeds of 0x01 and of 0x02: a memo "hi" that the second of them signs. */
const VECTOR = Buffer.from(
  "810201010f0000000a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a01038a88e3dd7409f195fd52db2d3cba5d72ca" +
    "6709bf1d94121bf3748801b40f6f5c8139770ea87d175f56a35466c34c7ecccb8d8a91b4ee37a25df60f5b8fc9b394054a535a992921064d24e8" +
    "7160da387c7c35b5ddbc92bb81e41fa8404105448d8813000000000000204e00000000010002010200016869d038786630738e70fbae328cae93" +
    "5e3a727003c37d5107f73f7d26de70e51a77e15b606858a767855593217c095ad015797833de76dd652b7109e458141dc502ae618d413aac94df" +
    "be6398c2702b2dcae2a0a0e03eb72878fe38b635fd0fc8091df6e0dfcfac60528f3556666b90e2053e6f633f03df4635159e27d7c5852f02",
  "hex",
);

describe("a transaction of version 1", () => {
  test("is taken apart as the kit that knows it does, its signatures valid", () => {
    const decoded = decodeTransaction(VECTOR);
    expect(decoded.message).toEqual({
      version: 1,
      header: { numSignerAccounts: 2, numReadonlySignerAccounts: 1, numReadonlyNonSignerAccounts: 1 },
      staticAccounts: [
        "AKnL4NNf3DGWZJS6cPknBuEGnVsV4A4m5tgebLHaRSZ9",
        "9hSR6S7WPtxmTojgo6GG3k4yDPecgJY292j7xrsUGWBu",
        "MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr",
      ],
      lifetimeToken: newKit.getBase58Decoder().decode(new Uint8Array(32).fill(10)),
      instructions: [{ programAddressIndex: 2, accountIndices: [1], data: new Uint8Array(Buffer.from("hi")) }],
    });
    const known = newKit.getTransactionDecoder().decode(VECTOR);
    expect(Buffer.from(decoded.transaction.messageBytes)).toEqual(Buffer.from(known.messageBytes));
    expect(Object.keys(decoded.transaction.signatures)).toEqual(Object.keys(known.signatures));
    expect(decoded.signature).toBe(newKit.getSignatureFromTransaction(known));
    expect(hasValidSignatures(decoded)).toBe(true);
    expect(memosOf(decoded)).toBe("[2] hi");
  });

  test("that is cut off, too long or has bytes too many is none", () => {
    for (let length = 0; length < VECTOR.length; length++)
      expect(() => decodeTransaction(VECTOR.subarray(0, length)), String(length)).toThrow();
    const longer = Buffer.concat([VECTOR.subarray(0, -128), Buffer.alloc(1), VECTOR.subarray(-128)]);
    expect(() => decodeTransaction(longer)).toThrow("trailing bytes");
    expect(() => decodeTransaction(Buffer.concat([VECTOR, Buffer.alloc(4_000)]))).toThrow("too large");
  });

  test("is written as that kit reads it, and runs", async () => {
    const world = await createTestLedger();
    const { sender, receiver, ledger } = world;
    const data = Buffer.alloc(12);
    data.writeUInt32LE(2);
    data.writeBigUInt64LE(1_000_000n, 4);
    const bytes = encodeVersion1(
      {
        header: { numSignerAccounts: 1, numReadonlySignerAccounts: 0, numReadonlyNonSignerAccounts: 1 },
        staticAccounts: [sender.address, receiver, "11111111111111111111111111111111" as typeof receiver],
        lifetimeToken: ledger.block("processed").blockhash,
        instructions: [{ programAddressIndex: 2, accountIndices: [0, 1], data }],
      },
      { priorityFee: 77n, computeUnits: 20_000, loadedBytes: 1 << 20 },
    );
    const read = newKit.getCompiledTransactionMessageDecoder().decode(bytes);
    expect(read).toMatchObject({ version: 1, staticAccounts: [sender.address, receiver, "1".repeat(32)] });
    const [signed] = await sender.signTransactions([
      { messageBytes: bytes as never, signatures: { [sender.address]: null } } as never,
    ]);
    const wire = Buffer.concat([bytes, Buffer.from(signed?.[sender.address] ?? [])]);
    expect(decodeVersion1(wire).message.instructions).toHaveLength(1);
    const before = world.lamports(sender.address);
    ledger.send(decodeTransaction(wire));
    const [landed] = ledger.transactionsOf(receiver);
    expect(landed?.execution).toMatchObject({ err: null, fee: 5_077n });
    expect(world.lamports(receiver)).toBe(1_000_000n);
    expect(world.lamports(sender.address)).toBe(before - 1_000_000n - 5_077n);
  });
});

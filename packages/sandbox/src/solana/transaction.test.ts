import {
  AccountRole,
  getBase58Decoder,
  getCompiledTransactionMessageDecoder,
  getTransactionEncoder,
  signTransactionMessageWithSigners,
} from "@solana/kit";
import { describe, expect, test } from "vitest";
import { createTestLedger } from "../../test/solana-ledger.ts";
import { decodeTransaction, hasValidSignatures, memosOf } from "./transaction.ts";

/** Made by @solana/kit 8.4.0 with the ed25519 seeds 0x01 and 0x02: a memo "hi" that the second of them signs. */
const VECTOR = Buffer.from(
  "810201010f0000000a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a01038a88e3dd7409f195fd52db2d3cba5d72ca" +
    "6709bf1d94121bf3748801b40f6f5c8139770ea87d175f56a35466c34c7ecccb8d8a91b4ee37a25df60f5b8fc9b394054a535a992921064d24e8" +
    "7160da387c7c35b5ddbc92bb81e41fa8404105448d8813000000000000204e00000000010002010200016869d038786630738e70fbae328cae93" +
    "5e3a727003c37d5107f73f7d26de70e51a77e15b606858a767855593217c095ad015797833de76dd652b7109e458141dc502ae618d413aac94df" +
    "be6398c2702b2dcae2a0a0e03eb72878fe38b635fd0fc8091df6e0dfcfac60528f3556666b90e2053e6f633f03df4635159e27d7c5852f02",
  "hex",
);

describe("a transaction of version 1", () => {
  test("is decoded into its message, its valid signatures and its memo", () => {
    const decoded = decodeTransaction(VECTOR);
    expect(decoded.message).toEqual({
      version: 1,
      header: { numSignerAccounts: 2, numReadonlySignerAccounts: 1, numReadonlyNonSignerAccounts: 1 },
      staticAccounts: [
        "AKnL4NNf3DGWZJS6cPknBuEGnVsV4A4m5tgebLHaRSZ9",
        "9hSR6S7WPtxmTojgo6GG3k4yDPecgJY292j7xrsUGWBu",
        "MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr",
      ],
      lifetimeToken: getBase58Decoder().decode(new Uint8Array(32).fill(10)),
      instructions: [{ programAddressIndex: 2, accountIndices: [1], data: new Uint8Array(Buffer.from("hi")) }],
    });
    expect(Buffer.from(decoded.transaction.messageBytes)).toEqual(VECTOR.subarray(0, -128));
    expect(Object.keys(decoded.transaction.signatures)).toEqual(decoded.message.staticAccounts.slice(0, 2));
    expect(decoded.signature).toBe(getBase58Decoder().decode(VECTOR.subarray(-128, -64)));
    expect(hasValidSignatures(decoded)).toBe(true);
    expect(memosOf(decoded)).toBe("[2] hi");
  });

  test("is refused when it is cut off, too long or followed by other bytes", () => {
    for (let length = 0; length < VECTOR.length; length++)
      expect(() => decodeTransaction(VECTOR.subarray(0, length)), String(length)).toThrow();
    const longer = Buffer.concat([VECTOR.subarray(0, -128), Buffer.alloc(1), VECTOR.subarray(-128)]);
    expect(() => decodeTransaction(longer)).toThrow("trailing bytes");
    expect(() => decodeTransaction(Buffer.concat([VECTOR, Buffer.alloc(4_000)]))).toThrow("too large");
  });

  test("that @solana/kit writes runs, and pays its priority fee", async () => {
    const world = await createTestLedger();
    const { sender, receiver, ledger } = world;
    const data = Buffer.alloc(12);
    data.writeUInt32LE(2);
    data.writeBigUInt64LE(1_000_000n, 4);
    const accounts = [
      { address: sender.address, role: AccountRole.WRITABLE_SIGNER, signer: sender },
      { address: receiver, role: AccountRole.WRITABLE },
    ] as const;
    const message = {
      version: 1,
      feePayer: sender,
      lifetimeConstraint: { blockhash: ledger.block("processed").blockhash, lastValidBlockHeight: 0n },
      config: { priorityFeeLamports: 77n, computeUnitLimit: 20_000, loadedAccountsDataSizeLimit: 1 << 20 },
      instructions: [{ programAddress: "11111111111111111111111111111111" as typeof receiver, accounts, data }],
    } as const;
    const signed = await signTransactionMessageWithSigners(message);
    const read = getCompiledTransactionMessageDecoder().decode(signed.messageBytes);
    expect(read).toMatchObject({ version: 1, staticAccounts: [sender.address, receiver, "1".repeat(32)] });
    const wire = new Uint8Array(getTransactionEncoder().encode(signed));
    expect(decodeTransaction(wire).message.instructions).toHaveLength(1);
    const before = world.lamports(sender.address);
    ledger.send(decodeTransaction(wire));
    const [landed] = ledger.transactionsOf(receiver);
    expect(landed?.execution).toMatchObject({ err: null, fee: 5_077n });
    expect(world.lamports(receiver)).toBe(1_000_000n);
    expect(world.lamports(sender.address)).toBe(before - 1_000_000n - 5_077n);
  });
});

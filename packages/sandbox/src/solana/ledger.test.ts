import { generateKeyPairSigner } from "@solana/kit";
import { beforeEach, describe, expect, test } from "vitest";
import { createTestLedger, SOL, type TestLedger } from "../../test/solana-ledger.ts";
import { Ledger } from "./ledger.ts";
import { Machine, transactionError } from "./machine.ts";
import { decodeTransaction } from "./transaction.ts";

const FEE = 5000n;

let world: TestLedger;
beforeEach(async () => {
  world = await createTestLedger();
});

test("a transaction lands in the current slot, and becomes confirmed and finalized as slots pass", async () => {
  const decoded = await world.transfer(SOL / 2n);
  world.ledger.send(decoded);
  const landed = world.ledger.transaction(decoded.signature);
  if (!landed) throw new Error("the transaction did not land");
  expect(landed.block).toBe(world.ledger.block("processed"));
  expect(landed.execution).toMatchObject({ err: null, fee: FEE });
  expect(landed.balances).toEqual({ before: [SOL, 0n, 1n], after: [SOL / 2n - FEE, SOL / 2n, 1n] });
  expect(world.ledger.transactionsOf(world.receiver)).toEqual([landed]);

  const seen: string[] = [];
  for (let slot = 0; slot <= 32; slot++) {
    seen.push(world.ledger.commitmentOf(landed.block));
    world.advance(1);
  }
  expect(seen).toEqual(["processed", ...Array(31).fill("confirmed"), "finalized"]);
});

test("a blockhash is valid for 150 blocks after its own, at every commitment", async () => {
  const named = world.ledger.block("processed");
  const early = await world.transfer(SOL / 10n);
  const late = await world.transfer(SOL / 5n);
  expect(world.ledger.lastValidHeight(named)).toBe(named.height + 150n);
  expect(world.ledger.isValid(named.blockhash, "finalized")).toBe(false);
  world.advance(32);
  expect(world.ledger.isValid(named.blockhash, "finalized")).toBe(true);

  world.advance(150 - 32);
  expect(world.ledger.simulate(early).err).toBeNull();
  world.ledger.send(early);
  expect(world.ledger.transaction(early.signature)).toBeDefined();

  world.advance(1);
  expect(world.ledger.isValid(named.blockhash, "processed")).toBe(false);
  expect(world.ledger.isValid(named.blockhash, "confirmed")).toBe(true);
  expect(world.ledger.simulate(late).err).toBe("BlockhashNotFound");
  expect(world.ledger.simulate(late, { anyBlockhash: true }).err).toBeNull();
  world.ledger.send(late);
  expect(world.ledger.transaction(late.signature)).toBeUndefined();

  world.advance(32);
  expect(world.ledger.isValid(named.blockhash, "finalized")).toBe(false);
  expect(world.ledger.isValid("1".repeat(32), "processed")).toBe(false);
});

test("the same message is processed once; simulating it again fails with AlreadyProcessed", async () => {
  const decoded = await world.transfer(SOL / 4n);
  expect(world.ledger.simulate(decoded).err).toBeNull();
  world.ledger.send(decoded);
  world.ledger.send(decoded);
  expect(world.lamports(world.receiver)).toBe(SOL / 4n);
  expect(world.ledger.transactionsOf(world.receiver)).toHaveLength(1);
  expect(world.ledger.simulate(decoded).err).toBe("AlreadyProcessed");
  expect(world.ledger.simulate(decoded, { anyBlockhash: true }).err).toBe("AlreadyProcessed");
});

describe("does not keep a transaction that a leader drops:", () => {
  test("an invalid signature, or none", async () => {
    const { wire } = await world.transfer(SOL / 4n);
    for (const signature of [new Uint8Array(64), new Uint8Array(64).fill(7)]) {
      const forged = new Uint8Array(wire);
      forged.set(signature, 1);
      const decoded = decodeTransaction(forged);
      expect(world.ledger.simulate(decoded).err).toBeNull();
      world.ledger.send(decoded);
      expect(world.ledger.transaction(decoded.signature)).toBeUndefined();
    }
    expect(world.lamports(world.receiver)).toBe(0n);
  });

  test("a fee payer without lamports", async () => {
    const decoded = await world.transfer(SOL, await generateKeyPairSigner());
    expect(world.ledger.simulate(decoded).err).toBe("AccountNotFound");
    world.ledger.send(decoded);
    expect(world.ledger.transaction(decoded.signature)).toBeUndefined();
  });
});

test("a transaction that fails still lands and pays its fee", async () => {
  const decoded = await world.transfer(2n * SOL);
  world.ledger.send(decoded);
  const landed = world.ledger.transaction(decoded.signature);
  expect(landed?.execution.err).toEqual({ InstructionError: [0, { Custom: 1 }] });
  expect(world.lamports(world.sender.address)).toBe(SOL - FEE);
  expect(world.ledger.simulate(decoded).err).toBe("AlreadyProcessed");
});

test("no two ledgers share a blockhash", () => {
  const other = new Ledger(new Machine(), 1000n);
  expect(other.isValid(world.ledger.block("processed").blockhash, "processed")).toBe(false);
});

test("bytes that are not exactly one transaction are refused", async () => {
  const { wire } = await world.transfer(1n);
  expect(() => decodeTransaction(new Uint8Array([...wire, 0]))).toThrow("trailing bytes");
  expect(() => decodeTransaction(wire.subarray(0, 80))).toThrow();
  expect(() => decodeTransaction(new Uint8Array(1233))).toThrow("too large");
});

test("errors have the JSON that validators return", () => {
  expect(transactionError("AccountNotFound")).toBe("AccountNotFound");
  expect(transactionError("InstructionError(2, Custom(6000))")).toEqual({ InstructionError: [2, { Custom: 6000 }] });
  expect(transactionError("InstructionError(0, InvalidAccountData)")).toEqual({
    InstructionError: [0, "InvalidAccountData"],
  });
  expect(transactionError("DuplicateInstruction(3)")).toEqual({ DuplicateInstruction: 3 });
  expect(transactionError("InsufficientFundsForRent { account_index: 1 }")).toEqual({
    InsufficientFundsForRent: { account_index: 1 },
  });
});

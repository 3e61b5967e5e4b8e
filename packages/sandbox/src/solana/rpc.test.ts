import { toBase64 as base64 } from "@attestd/proof/encoding";
import { beforeEach, describe, expect, test } from "vitest";
import { createTestLedger, SOL, type TestLedger } from "../../test/solana-ledger.ts";
import type { RpcHandler } from "../jsonrpc.ts";
import { solanaRpc } from "./rpc.ts";
import type { DecodedTransaction } from "./transaction.ts";

let world: TestLedger;
let rpc: RpcHandler;

beforeEach(async () => {
  world = await createTestLedger();
  rpc = solanaRpc({ ...world, genesisHash: "genesis" });
});

const encoding = { encoding: "base64" };
const send = ({ wire }: DecodedTransaction, config = {}) =>
  rpc("sendTransaction", [base64(wire), { ...encoding, ...config }]);
const simulate = ({ wire }: DecodedTransaction, config = {}) =>
  rpc("simulateTransaction", [base64(wire), { ...encoding, ...config }]);

describe("a landed transaction", () => {
  const config = { ...encoding, maxSupportedTransactionVersion: 0 };
  let sent: DecodedTransaction;
  beforeEach(async () => {
    sent = await world.transfer(SOL / 2n);
    expect(await send(sent)).toBe(sent.signature);
  });
  const shown = (commitment?: string) => [
    rpc("getTransaction", [sent.signature, { ...config, commitment }]) !== null,
    (rpc("getSignaturesForAddress", [world.receiver, { commitment }]) as unknown[]).length === 1,
  ];

  test("is listed with a null memo when it has none", () => {
    const [listed] = rpc("getSignaturesForAddress", [world.receiver, { commitment: "processed" }]) as {
      memo: unknown;
    }[];
    expect(listed?.memo).toBeNull();
  });

  test("is returned at a commitment only after reaching it; the default is `finalized`", () => {
    expect([shown("confirmed"), shown("finalized"), shown()].flat()).toEqual(Array(6).fill(false));
    world.advance(1);
    expect([shown("confirmed"), shown("finalized"), shown()].flat()).toEqual([true, true, false, false, false, false]);
    world.advance(31);
    expect([shown("confirmed"), shown("finalized"), shown()].flat()).toEqual(Array(6).fill(true));
  });

  test("counts its confirmations, and leaves the status cache after 150 blocks", () => {
    const status = (config = {}) =>
      (rpc("getSignatureStatuses", [[sent.signature], config]) as { value: unknown[] }).value[0];
    expect(status()).toMatchObject({
      confirmations: 0n,
      confirmationStatus: "processed",
      err: null,
      status: { Ok: null },
    });
    world.advance(5);
    expect(status()).toMatchObject({ confirmations: 5n, confirmationStatus: "confirmed" });
    world.advance(145);
    expect(status()).toMatchObject({ confirmations: null, confirmationStatus: "finalized" });
    world.advance(1);
    expect(status()).toBeNull();
    expect(status({ searchTransactionHistory: true })).toMatchObject({ confirmationStatus: "finalized" });
  });

  test("keeps its block time after its block is dropped", () => {
    const { slot, time } = world.ledger.transaction(sent.signature)?.block ?? {};
    world.advance(1000);
    expect(rpc("getBlockTime", [Number(slot)])).toBe(time);
  });

  test("is returned in every supported encoding", () => {
    world.advance(32);
    const get = (encoding: string) =>
      (rpc("getTransaction", [sent.signature, { ...config, encoding }]) as { transaction: unknown }).transaction;
    expect(get("base64")).toEqual([base64(sent.wire), "base64"]);
    expect(get("base58")).toMatchObject({ 1: "base58" });
    expect(get("json")).toMatchObject({
      signatures: [sent.signature],
      message: { recentBlockhash: sent.message.lifetimeToken, header: { numRequiredSignatures: 1 } },
    });
    expect(() => get("jsonParsed")).toThrow("does not serve the encoding jsonParsed");
  });

  test("cannot be sent again, and fails in simulation", () => {
    expect(() => send(sent)).toThrow("Transaction simulation failed: This transaction has already been processed");
    expect(simulate(sent)).toMatchObject({ value: { err: "AlreadyProcessed" } });
    expect(send(sent, { skipPreflight: true })).toBe(sent.signature);
    expect(world.lamports(world.receiver)).toBe(SOL / 2n);
  });
});

test("a transaction expires 150 blocks after its blockhash", async () => {
  const late = await world.transfer(SOL / 2n);
  const named = [late.message.lifetimeToken, { commitment: "processed" }];
  world.advance(150);
  expect(rpc("isBlockhashValid", named)).toMatchObject({ value: true });
  expect(simulate(late)).toMatchObject({ value: { err: null } });
  world.advance(1);
  expect(rpc("isBlockhashValid", named)).toMatchObject({ value: false });
  expect(simulate(late)).toMatchObject({ value: { err: "BlockhashNotFound" } });
  expect(() => send(late)).toThrow("Transaction simulation failed: Blockhash not found");
  expect(simulate(late, { replaceRecentBlockhash: true })).toMatchObject({
    value: { err: null, replacementBlockhash: { blockhash: world.ledger.block("finalized").blockhash } },
  });
});

test("a failed simulation names the instruction and the program's error", async () => {
  const tooMuch = await world.transfer(2n * SOL);
  expect(simulate(tooMuch)).toMatchObject({ value: { err: { InstructionError: [0, { Custom: 1 }] } } });
  expect(() => send(tooMuch)).toThrow("Error processing Instruction 0: custom program error: 0x1");
  expect(world.lamports(world.sender.address)).toBe(SOL);
});

test("the latest blockhash is that of the requested commitment", () => {
  for (const commitment of ["processed", "confirmed", "finalized"] as const) {
    const { slot, blockhash, height } = world.ledger.block(commitment);
    expect(rpc("getLatestBlockhash", [{ commitment }])).toEqual({
      context: { apiVersion: "0.0.0-attestd-sandbox", slot },
      value: { blockhash, lastValidBlockHeight: height + 150n },
    });
    expect(rpc("getSlot", [{ commitment }])).toBe(slot);
    expect(rpc("getBlockHeight", [{ commitment }])).toBe(height);
  }
  expect(() => rpc("getSlot", [{ commitment: "soon" }])).toThrow("unknown commitment soon");
});

test("an unsupported method is not found, even when it is the name of an inherited member", () => {
  for (const method of ["getNothing", "toString", "constructor"]) {
    expect(() => rpc(method, []), method).toThrow("Method not found");
  }
});

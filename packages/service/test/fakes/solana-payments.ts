import {
  AccountRole,
  type Address,
  appendTransactionMessageInstructions,
  type Blockhash,
  createTransactionMessage,
  generateKeyPairSigner,
  getBase64EncodedWireTransaction,
  type Instruction,
  type KeyPairSigner,
  partiallySignTransactionMessageWithSigners,
  pipe,
  setTransactionMessageFeePayer,
  setTransactionMessageLifetimeUsingBlockhash,
} from "@solana/kit";
import type { PaymentPayload, PaymentRequirements } from "@x402/core/types";
import { systemClock } from "../../src/lib/clock.ts";
import type { Rail } from "../../src/payment/rails/rail.ts";
import { type SolanaPayment, solanaRail } from "../../src/payment/rails/solana/rail.ts";
import { usdcAccountOf } from "../../src/payment/rails/solana/token-account.ts";
import { SOLANA } from "../../src/payment/rails/solana/usdc.ts";
import type { Conflict } from "../../src/providers/quorum.ts";
import { SolanaRpc } from "../../src/providers/solana-rpc.ts";
import { blockhash, FakeSolanaNode } from "./solana-node.ts";

export const payer = await generateKeyPairSigner();
export const stranger = await generateKeyPairSigner();
export const feePayer = await generateKeyPairSigner();
export const payTo = (await generateKeyPairSigner()).address;

export const requirement: PaymentRequirements = {
  scheme: "exact",
  network: "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp",
  asset: SOLANA.asset,
  amount: "1000",
  payTo,
  maxTimeoutSeconds: 120,
  extra: { feePayer: feePayer.address },
};

/** A rail over hand-made nodes. */
export class SolanaWorld implements AsyncDisposable {
  readonly nodes: FakeSolanaNode[] = [];
  /** Nodes that only answer in the place of others. */
  readonly hidden: FakeSolanaNode[] = [];
  readonly conflicts: Conflict[] = [];
  #rail: Rail<SolanaPayment> | undefined;

  async node(): Promise<FakeSolanaNode> {
    const node = await FakeSolanaNode.start();
    this.nodes.push(node);
    return node;
  }

  pass(slots: number): void {
    for (const node of [...this.nodes, ...this.hidden]) node.slot += slots;
  }

  /** The rail of the test's nodes, which must all be added before. */
  get rail(): Rail<SolanaPayment> {
    const rpcs = this.nodes.map(({ url }) => new SolanaRpc({ url }));
    const rules = { onConflict: (conflict: Conflict) => this.conflicts.push(conflict) };
    const clock = { ...systemClock, now: Date.now, sleep: async () => {} };
    this.#rail ??= solanaRail({
      nodes: { rpcs, rules },
      limits: { computeUnits: 50_000, microLamports: 100_000 },
      clock,
    });
    return this.#rail;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.nodes, ...this.hidden].map((node) => node.close()));
  }
}

export function payload(transaction: unknown, over: Partial<PaymentPayload> = {}): PaymentPayload {
  return { x402Version: 2, accepted: requirement, payload: { transaction }, ...over };
}

type Parts = {
  version: 0 | "legacy";
  feePayer: Address;
  blockhash: string;
  instructions: readonly Instruction[];
};

/** The stock client's payment with a test's changes, signed by every signer but the fee payer. */
export async function paying(over: Partial<Parts> = {}): Promise<PaymentPayload> {
  const parts = {
    version: 0,
    feePayer: feePayer.address,
    blockhash: blockhash(400_000_000 - 20),
    instructions: stock(),
    ...over,
  };
  const message = pipe(
    createTransactionMessage({ version: parts.version as 0 }),
    (tx) => setTransactionMessageFeePayer(parts.feePayer, tx),
    (tx) =>
      setTransactionMessageLifetimeUsingBlockhash(
        { blockhash: parts.blockhash as Blockhash, lastValidBlockHeight: 0n },
        tx,
      ),
    (tx) => appendTransactionMessageInstructions(parts.instructions, tx),
  );
  return payload(getBase64EncodedWireTransaction(await partiallySignTransactionMessageWithSigners(message)));
}

/** The stock client's instructions: limit, price, transfer, memo. */
export function stock(over: { [place: number]: Instruction } = {}): Instruction[] {
  return Object.assign([computeLimit(20_000), computePrice(1n), transfer(), memo("5eed".repeat(8))], over);
}

const COMPUTE_BUDGET = "ComputeBudget111111111111111111111111111111" as Address;

export function computeLimit(units: number): Instruction {
  const data = Buffer.alloc(5, 2);
  data.writeUInt32LE(units, 1);
  return { programAddress: COMPUTE_BUDGET, data };
}

export function computePrice(microLamports: bigint): Instruction {
  const data = Buffer.alloc(9, 3);
  data.writeBigUInt64LE(microLamports, 1);
  return { programAddress: COMPUTE_BUDGET, data };
}

export function memo(text: string): Instruction {
  return { programAddress: "MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr" as Address, data: Buffer.from(text) };
}

type TransferParts = {
  program: string;
  source: string;
  mint: string;
  to: string;
  destination: string;
  authority: KeyPairSigner;
  amount: bigint;
  decimals: number;
};

export function transfer(over: Partial<TransferParts> = {}): Instruction {
  const { authority = payer, to = payTo } = over;
  const parts = {
    program: "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA",
    source: usdcAccountOf(authority.address),
    mint: SOLANA.asset,
    destination: usdcAccountOf(to),
    amount: 1000n,
    decimals: 6,
    ...over,
  };
  const data = Buffer.alloc(10, 12);
  data.writeBigUInt64LE(parts.amount, 1);
  data.writeUInt8(parts.decimals, 9);
  const account = (address: string | undefined, role: AccountRole) => ({ address: address as Address, role });
  const accounts = [
    account(parts.source, AccountRole.WRITABLE),
    account(parts.mint, AccountRole.READONLY),
    account(parts.destination, AccountRole.WRITABLE),
    { ...account(authority.address, AccountRole.READONLY_SIGNER), signer: authority },
  ];
  return { programAddress: parts.program as Address, accounts, data };
}

/**
 * A transaction of version 1 on the wire, a memo that its second signer signs, made by @solana/kit 8.4.0 of ed25519 seeds
 * of 0x01 and of 0x02 (SIMD-0385).
 */
export const VERSION_1 = Buffer.from(
  "810201010f0000000a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a01038a88e3dd7409f195fd52db2d3cba5d72ca" +
    "6709bf1d94121bf3748801b40f6f5c8139770ea87d175f56a35466c34c7ecccb8d8a91b4ee37a25df60f5b8fc9b394054a535a992921064d24e8" +
    "7160da387c7c35b5ddbc92bb81e41fa8404105448d8813000000000000204e00000000010002010200016869d038786630738e70fbae328cae93" +
    "5e3a727003c37d5107f73f7d26de70e51a77e15b606858a767855593217c095ad015797833de76dd652b7109e458141dc502ae618d413aac94df" +
    "be6398c2702b2dcae2a0a0e03eb72878fe38b635fd0fc8091df6e0dfcfac60528f3556666b90e2053e6f633f03df4635159e27d7c5852f02",
  "hex",
);

import {
  AccountRole,
  type Address,
  address,
  appendTransactionMessageInstruction,
  type Blockhash,
  createTransactionMessage,
  generateKeyPairSigner,
  getStructEncoder,
  getTransactionEncoder,
  getU32Encoder,
  getU64Encoder,
  type KeyPairSigner,
  lamports,
  pipe,
  setTransactionMessageFeePayerSigner,
  setTransactionMessageLifetimeUsingBlockhash,
  signTransactionMessageWithSigners,
} from "@solana/kit";
import { Ledger } from "../src/solana/ledger.ts";
import { Machine } from "../src/solana/machine.ts";
import { type DecodedTransaction, decodeTransaction } from "../src/solana/transaction.ts";

const SYSTEM_PROGRAM = address("11111111111111111111111111111111");
const TIME = 1_800_000_000n;

/** Lamports of one SOL. */
export const SOL = 1_000_000_000n;

/** A ledger without a timer, with an account of 1 SOL. */
export interface TestLedger {
  machine: Machine;
  ledger: Ledger;
  sender: KeyPairSigner;
  receiver: Address;
  /** Starts that many slots. */
  advance(slots: number): void;
  lamports(account: Address): bigint;
  /** A transfer to the receiver, signed and not sent, naming the newest blockhash. */
  transfer(amount: bigint, from?: KeyPairSigner): Promise<DecodedTransaction>;
}

export async function createTestLedger(): Promise<TestLedger> {
  const machine = new Machine();
  const ledger = new Ledger(machine, TIME);
  const sender = await generateKeyPairSigner();
  const { address: receiver } = await generateKeyPairSigner();
  machine.setAccount({
    address: sender.address,
    lamports: lamports(SOL),
    programAddress: SYSTEM_PROGRAM,
    data: new Uint8Array(),
    executable: false,
    space: 0n,
  });
  return {
    machine,
    ledger,
    sender,
    receiver,
    advance: (slots) => {
      for (let slot = 0; slot < slots; slot++) ledger.nextSlot(TIME);
    },
    lamports: (account) => machine.account(account)?.lamports ?? 0n,
    transfer: (amount, from = sender) => transfer(from, receiver, amount, ledger.block("processed").blockhash),
  };
}

async function transfer(from: KeyPairSigner, to: Address, lamports: bigint, blockhash: string) {
  // SystemInstruction::Transfer
  const encoder = getStructEncoder([
    ["instruction", getU32Encoder()],
    ["lamports", getU64Encoder()],
  ]);
  const instruction = {
    programAddress: SYSTEM_PROGRAM,
    accounts: [
      { address: from.address, role: AccountRole.WRITABLE_SIGNER, signer: from },
      { address: to, role: AccountRole.WRITABLE },
    ],
    data: encoder.encode({ instruction: 2, lamports }),
  } as const;
  const lifetime = { blockhash: blockhash as Blockhash, lastValidBlockHeight: 0n };
  const message = pipe(
    createTransactionMessage({ version: 0 }),
    (message) => setTransactionMessageFeePayerSigner(from, message),
    (message) => setTransactionMessageLifetimeUsingBlockhash(lifetime, message),
    (message) => appendTransactionMessageInstruction(instruction, message),
  );
  const signed = await signTransactionMessageWithSigners(message);
  return decodeTransaction(new Uint8Array(getTransactionEncoder().encode(signed)));
}

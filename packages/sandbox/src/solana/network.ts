import { randomBytes } from "node:crypto";
import { toBase64 } from "@attestd/proof/encoding";
import { RAILS, USDC_DECIMALS } from "@attestd/proof/rails";
import {
  type Address,
  address,
  generateKeyPairSigner,
  getAddressDecoder,
  getBase58Decoder,
  getTransactionEncoder,
  type KeyPairSigner,
  lamports,
  type ReadonlyUint8Array,
  signTransactionMessageWithSigners,
} from "@solana/kit";
import { getTransferCheckedInstruction, TOKEN_PROGRAM_ADDRESS } from "@solana-program/token";
import { type NetworkArchive, NO_ARCHIVE } from "../archive.ts";
import { listen, type ServerOptions } from "../http.ts";
import { serveJsonRpc } from "../jsonrpc.ts";
import { makeSecretKey } from "../secret-key.ts";
import { Ledger } from "./ledger.ts";
import { Machine } from "./machine.ts";
import { solanaRpc } from "./rpc.ts";
import { associatedTokenAddress, encodeMint, encodeTokenAccount, USDC_MINT } from "./token.ts";
import { decodeTransaction } from "./transaction.ts";

/** CAIP-2 reference of Solana's MainNet: the first 32 characters of its genesis hash. */
const MAINNET_REFERENCE = RAILS.solana.network.slice("solana:".length);
const SYSTEM_PROGRAM = address("11111111111111111111111111111111");
const MEMO_PROGRAM = address("MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr");
const LIGHTHOUSE_PROGRAM = address("L2TExMFKdjpN9kozasaurPirfHy9P8sbXoAN1qA3S95");
const LAMPORTS_PER_SOL = 1_000_000_000n;
const MICRO_USDC = 1_000_000n;
/** How many transactions of version 1 each account has when the network starts. */
const VERSION_1_AT_START = 3;

export interface SolanaOptions extends ServerOptions {
  /** Time between slots, in milliseconds; default: 400, as on MainNet. A blockhash is valid for 150 of them. */
  slotMs?: number | undefined;
  /** Contains the network's earlier keys and transactions, and receives new ones. */
  archive?: NetworkArchive | undefined;
}

/** An account with its key: base64 of 64 bytes, the ed25519 seed and then the public key. */
export type SolanaKey = ReturnType<typeof randomKey>;

export type SolanaNetwork = Awaited<ReturnType<typeof startSolana>>;

/**
 * Starts Solana on litesvm behind its JSON-RPC, with random keys.
 *
 * Its CAIP-2 name is MainNet's, because stock x402 packages know no other: the genesis hash starts with the same 32
 * characters and ends in random ones. A signature is worthless elsewhere because every transaction names a random
 * blockhash.
 *
 * At Lighthouse's address, whose assertions wallets append, there is a program that asserts nothing: the memo program,
 * which accepts data in UTF-8.
 *
 * With an archive the keys are the earlier ones, the transactions of earlier starts are also served, and slots continue
 * above the last one. Accounts are not kept: every start funds them again.
 * @throws when the port is in use
 */
export async function startSolana({ slotMs = 400, archive = NO_ARCHIVE, ...options }: SolanaOptions = {}) {
  const machine = new Machine();
  const ledger = new Ledger(machine, unixTime(), archive);
  const { payer, feePayer, otherFeePayers, payTo, genesisHash } = archive.keep("identity", () => ({
    payer: randomKey(),
    feePayer: randomKey(),
    otherFeePayers: [randomKey(), randomKey()],
    payTo: { address: randomKey().address },
    genesisHash: MAINNET_REFERENCE + getBase58Decoder().decode(randomBytes(16)).slice(-12),
  }));
  setTokenAccount(machine, USDC_MINT, encodeMint(1_000n * MICRO_USDC));
  const standIn = machine.account(MEMO_PROGRAM);
  if (standIn) machine.setAccount({ ...standIn, address: LIGHTHOUSE_PROGRAM });
  await fund(machine, payer.address, { sol: 100n, usdc: 1_000n });
  for (const { address } of [feePayer, ...otherFeePayers]) await fund(machine, address, { sol: 1_000n, usdc: 0n });
  await fund(machine, payTo.address, { sol: 0n, usdc: 0n });
  const sender = await generateKeyPairSigner();
  await fund(machine, sender.address, { sol: 1n, usdc: 0n });
  const sendVersion1 = version1Sender(ledger, sender);
  for (const { address } of [payer, payTo]) await sendVersion1(address, VERSION_1_AT_START);

  const handler = solanaRpc({ machine, ledger, genesisHash });
  const server = await listen(serveJsonRpc(handler), { server: "solana", ...options });
  const slots = setInterval(() => ledger.nextSlot(unixTime()), slotMs);
  return {
    rpcUrl: server.url,
    /** USDC's mint. */
    usdc: USDC_MINT,
    /** Holds 100 SOL and 1,000 USDC. */
    payer,
    /** Only receives payments; its USDC account exists. Its key is not kept. */
    payTo,
    /** Holds SOL for the fees of settlements. */
    feePayer,
    /** Two more such accounts, for other facilitators. */
    otherFeePayers,
    /**
     * Sends transfers of 0 USDC from another account to an owner's USDC account, in transactions of version 1, which is
     * new on MainNet.
     */
    sendVersion1,
    /** Stops the slots and the server. */
    close: () => {
      clearInterval(slots);
      return server.close();
    },
  };
}

async function fund(machine: Machine, owner: Address, { sol, usdc }: { sol: bigint; usdc: bigint }): Promise<void> {
  if (sol > 0n) {
    const account = { address: owner, programAddress: SYSTEM_PROGRAM, data: new Uint8Array(), space: 0n };
    machine.setAccount({ ...account, lamports: lamports(sol * LAMPORTS_PER_SOL), executable: false });
  }
  setTokenAccount(machine, await associatedTokenAddress(owner), encodeTokenAccount(owner, usdc * MICRO_USDC));
}

/** Sends transfers that all differ: each has another priority fee. */
function version1Sender(ledger: Ledger, from: KeyPairSigner) {
  let sent = 0n;
  return async (owner: Address, count: number): Promise<void> => {
    const transfer = getTransferCheckedInstruction({
      source: await associatedTokenAddress(from.address),
      mint: USDC_MINT,
      destination: await associatedTokenAddress(owner),
      authority: from,
      amount: 0n,
      decimals: USDC_DECIMALS,
    });
    for (let i = 0; i < count; i++) {
      const message = {
        version: 1,
        feePayer: from,
        lifetimeConstraint: { blockhash: ledger.block("processed").blockhash, lastValidBlockHeight: 0n },
        config: { priorityFeeLamports: sent++, computeUnitLimit: 20_000, loadedAccountsDataSizeLimit: 1 << 20 },
        instructions: [transfer],
      } as const;
      const signed = await signTransactionMessageWithSigners(message);
      ledger.send(decodeTransaction(new Uint8Array(getTransactionEncoder().encode(signed))));
    }
  };
}

/** Creates a rent-exempt account of the token program. */
function setTokenAccount(machine: Machine, address: Address, data: ReadonlyUint8Array): void {
  const space = BigInt(data.length);
  const account = { address, programAddress: TOKEN_PROGRAM_ADDRESS, data, space, executable: false };
  machine.setAccount({ ...account, lamports: lamports(machine.rentExemption(space)) });
}

function randomKey() {
  const secretKey = makeSecretKey();
  return { address: getAddressDecoder().decode(secretKey.subarray(32)), secretKeyBase64: toBase64(secretKey) };
}

function unixTime(): bigint {
  return BigInt(Math.floor(Date.now() / 1000));
}

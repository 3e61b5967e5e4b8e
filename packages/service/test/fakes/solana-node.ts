import {
  type CompiledTransactionMessage,
  getBase58Decoder,
  getBase58Encoder,
  getCompiledTransactionMessageDecoder,
  getTransactionDecoder,
} from "@solana/kit";
import { SOLANA } from "../../src/payment/rails/solana/usdc.ts";
import { json, Upstream } from "./providers.ts";

/** A transaction in a slot; a test may change what the node says of it. */
export type Landed = {
  signature: string;
  slot: number;
  wire: Buffer;
  accounts: readonly string[];
  err: unknown;
  /** As the list of an account's transactions has it. */
  memo: string | null;
  before: Balance[];
  after: Balance[];
  /** 0 where it is absent. */
  version?: number;
  /** In place of what the rest comes to. */
  meta?: unknown;
};

/** A refusal as agave sends it (rpc-client-api, custom_error.rs). */
class Refusal extends Error {
  readonly code: number;
  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}
type Options = {
  commitment?: string;
  before?: string;
  limit?: number;
  dataSlice?: Slice;
  minContextSlot?: number;
  maxSupportedTransactionVersion?: number;
};
type Slice = { offset: number; length: number };
type Balance = { accountIndex: number; mint: string; uiTokenAmount: { amount: string } };

/** How far behind the newest slot. */
const LAG: Record<string, number> = { processed: 0, confirmed: 1, finalized: 32 };
/** Slots for which a blockhash is good. */
const LIFE = 150;
const TOKEN_PROGRAM = "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA";
/** The first byte of a TransferChecked. */
const TRANSFER_CHECKED = 12;

/** One Solana node whose ledger a test writes by hand, behind real JSON-RPC on loopback. */
export class FakeSolanaNode {
  genesisHash = "5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d";
  slot = 400_000_000;
  /** Newest first. */
  readonly landed: Landed[] = [];
  /** By token account. */
  readonly balances = new Map<string, bigint>();
  readonly asked: string[] = [];
  /** Another node that answers a method in this one's place, as behind a balancer. */
  balance: (method: string, options: Options) => FakeSolanaNode = () => this;
  /** Changes the answer to a method. */
  distort: (method: string, answer: unknown) => unknown = (_, answer) => answer;
  readonly #upstream: Upstream;

  private constructor(upstream: Upstream) {
    this.#upstream = upstream;
  }

  static async start(): Promise<FakeSolanaNode> {
    const upstream = await Upstream.start((request, response) => {
      const { method, params = [] } = JSON.parse(String(request.body));
      node.asked.push(method);
      try {
        const answering = node.balance(method, params[1] ?? {});
        json(response, { jsonrpc: "2.0", id: 1, result: node.distort(method, answering.#answer(method, params)) });
      } catch (error) {
        const code = error instanceof Refusal ? error.code : -32602;
        json(response, { jsonrpc: "2.0", id: 1, error: { code, message: (error as Error).message } });
      }
    });
    const node = new FakeSolanaNode(upstream);
    return node;
  }

  get url(): string {
    return this.#upstream.url;
  }

  close(): Promise<void> {
    return this.#upstream.close();
  }

  /** Puts a payment into the newest slot, with the fee payer's signature: it moves what it says, unless it fails. */
  land(transaction: string, { err = null, memo = null }: { err?: unknown; memo?: string | null } = {}): Landed {
    const wire = Buffer.from(transaction, "base64");
    const { messageBytes } = getTransactionDecoder().decode(wire);
    const message = getCompiledTransactionMessageDecoder().decode(messageBytes);
    const first = Buffer.alloc(64, 1);
    first.writeUInt32LE(this.landed.length + 1);
    first.copy(wire, 1);
    const landed: Landed = {
      signature: getBase58Decoder().decode(first),
      slot: this.slot,
      wire,
      accounts: message.staticAccounts,
      err,
      memo,
      ...balancesOf(message, err === null),
    };
    this.landed.unshift(landed);
    return landed;
  }

  /**
   * Puts a stranger's transaction that names an account into the newest slot, with another first signature each time: bytes
   * of any version, or of none.
   */
  landAnother(account: string, bytes: Uint8Array, over: Partial<Landed> = {}): Landed {
    const first = Buffer.alloc(64, 2);
    first.writeUInt32LE(this.landed.length + 1);
    const wire = Buffer.from(bytes);
    // Version 1 has its signatures last, as many as its second byte says (SIMD-0385).
    if (wire[0] === 0x81 && wire.length > 64) first.copy(wire, wire.length - 64 * wire.readUInt8(1));
    const landed: Landed = {
      signature: getBase58Decoder().decode(first),
      slot: this.slot,
      wire,
      accounts: [account],
      err: null,
      memo: null,
      before: [],
      after: [],
      ...over,
    };
    this.landed.unshift(landed);
    return landed;
  }

  #answer(method: string, params: unknown[]): unknown {
    const options = (params[1] ?? {}) as Options;
    const newest = this.slot - (LAG[options.commitment ?? "finalized"] ?? 0);
    if (options.minContextSlot !== undefined && newest < options.minContextSlot)
      throw new Refusal(-32016, "Minimum context slot has not been reached");
    switch (method) {
      case "getGenesisHash":
        return this.genesisHash;
      case "getHealth":
        return "ok";
      case "getLatestBlockhash": {
        const slot = this.slot - (LAG.confirmed ?? 0);
        return { context: { slot }, value: { blockhash: blockhash(slot), lastValidBlockHeight: slot + LIFE } };
      }
      case "getAccountInfo":
        return { context: { slot: newest }, value: this.#account(params[0] as string, options.dataSlice) };
      case "isBlockhashValid": {
        const age = newest - slotOf(params[0] as string);
        return { context: { slot: newest }, value: age >= 0 && age <= LIFE };
      }
      case "getSignaturesForAddress": {
        const known = this.landed.filter(
          ({ slot, accounts }) => slot <= newest && accounts.includes(params[0] as string),
        );
        // A node that does not know the transaction to begin before lists none (agave's blockstore).
        const last = options.before && known.findIndex(({ signature }) => signature === options.before);
        const start = last === undefined ? 0 : last === -1 ? known.length : Number(last) + 1;
        return known.slice(start, start + (options.limit ?? 1000)).map(({ signature, slot, err, memo }) => {
          const confirmationStatus = this.slot - slot >= (LAG.finalized ?? 0) ? "finalized" : "confirmed";
          return { signature, slot, err, memo, blockTime: null, confirmationStatus };
        });
      }
      case "getTransaction":
        return this.#transaction(params[0] as string, options);
      default:
        throw new Error("Method not found");
    }
  }

  #account(address: string, { offset, length }: Slice = { offset: 0, length: 165 }) {
    const balance = this.balances.get(address);
    if (address !== SOLANA.asset && balance === undefined) return null;
    const data = address === SOLANA.asset ? mintData() : tokenAccountData(balance ?? 0n);
    const part = data.subarray(offset, offset + length).toString("base64");
    return { data: [part, "base64"], owner: TOKEN_PROGRAM, lamports: 1, executable: false, rentEpoch: 0, space: 1 };
  }

  #transaction(signature: string, { maxSupportedTransactionVersion: supported = -1 }: Options) {
    const landed = this.landed.find((each) => each.signature === signature);
    if (!landed) return null;
    const { slot, wire, err, before, after, version = 0 } = landed;
    if (version > supported)
      throw new Refusal(-32015, `Transaction version (${version}) is not supported by the requesting client.`);
    const meta = landed.meta ?? { err, fee: 5000, preTokenBalances: before, postTokenBalances: after };
    return { slot, blockTime: null, transaction: [wire.toString("base64"), "base64"], meta, version };
  }
}

/** The hash of a slot's block. */
export function blockhash(slot: number): string {
  const bytes = Buffer.alloc(32, 7);
  bytes.writeUInt32LE(slot);
  return getBase58Decoder().decode(bytes);
}

function slotOf(hash: string): number {
  return Buffer.from(getBase58Encoder().encode(hash)).readUInt32LE();
}

/** The balances of the accounts of the message's transfer, if it took place. */
function balancesOf({ instructions, staticAccounts }: CompiledTransactionMessage, moves: boolean) {
  const transfer = instructions.find(({ data }) => data?.[0] === TRANSFER_CHECKED);
  const [source = 0, mint = 0, destination = 0] = transfer?.accountIndices ?? [];
  const amount = moves ? Buffer.from(transfer?.data ?? []).readBigUInt64LE(1) : 0n;
  const balance = (accountIndex: number, units: bigint): Balance => ({
    accountIndex,
    mint: String(staticAccounts[mint]),
    uiTokenAmount: { amount: String(units) },
  });
  return {
    before: [balance(source, 5_000n), balance(destination, 7n)],
    after: [balance(source, 5_000n - amount), balance(destination, 7n + amount)],
  };
}

/** A mint of six decimals. */
function mintData(): Buffer {
  const data = Buffer.alloc(82);
  data[44] = 6;
  data[45] = 1;
  return data;
}

function tokenAccountData(amount: bigint): Buffer {
  const data = Buffer.alloc(165, 1);
  data.writeBigUInt64LE(amount, 64);
  return data;
}

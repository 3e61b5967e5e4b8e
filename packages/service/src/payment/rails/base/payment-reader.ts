import { hash } from "node:crypto";
import { BASE_MAINNET } from "@attestd/proof/base";
import type { Hex } from "viem";
import { getAddress, numberToHex, slice } from "viem/utils";
import { z } from "zod";
import { type EthereumNodes, type EthereumRpc, rpcBytes, rpcInteger } from "../../../providers/ethereum-rpc.ts";
import { unavailable } from "../../../providers/provider.ts";
import { agree, ifAny } from "../../../providers/quorum.ts";
import { type Ask, answersOf, fewAtOnce, firstAt, inPieces, type Span } from "../../../providers/reading.ts";
import type { ChainPayment, PaymentReader } from "../payment-reader.ts";
import { isTooMuch } from "./log-pieces.ts";
import { BASE } from "./usdc.ts";
import { addressTopic, Log, readBlock, TRANSFER, USED } from "./usdc-contract.ts";

const TOKEN = BASE.asset.toLowerCase();

const Receipt = z
  .object({ status: rpcInteger, transactionHash: rpcBytes, blockNumber: rpcInteger, logs: z.array(Log) })
  .nullable();
type Receipt = NonNullable<z.infer<typeof Receipt>>;

/**
 * Reads payments on the Base rail: the token's transfers to an address, and in each receipt the use of the
 * authorization behind the transfer (EIP-3009).
 * @param logSpan blocks in one query for logs, at most
 */
export function baseReader({ rpcs, rules }: EthereumNodes, ask: Ask, logSpan: number): PaymentReader {
  const asking = { rules, ask };
  // Hosts have their own limits of blocks. Some accept only ten, which are 2 s.
  const sizes = { most: logSpan, isTooLarge: isTooMuch };
  return {
    async heads() {
      const read = async (rpc: EthereumRpc, signal: AbortSignal) => {
        const [latest, finalized] = await Promise.all([
          readBlock(rpc, "latest", signal),
          readBlock(rpc, "finalized", signal),
        ]);
        return { latest: latest.number, final: finalized.number };
      };
      const heads = await answersOf(rpcs, read, { about: "the head of Base" }, asking);
      return {
        latest: Math.min(...heads.map(({ latest }) => latest)),
        final: Math.min(...heads.map(({ final }) => final)),
      };
    },

    heightAt: (time, latest) =>
      firstAt(time, latest, (number) => {
        const about = `the time of block ${number}`;
        const read = async (rpc: EthereumRpc, signal: AbortSignal) => (await rpc.block(number, signal))?.timestamp;
        return ask(async (signal) => (await agree(rpcs, read, ifAny(about, String, signal), rules))[0]);
      }),

    async *payments(addresses, span) {
      for await (const transactions of transfersTo(addresses, span)) {
        const payments = await fewAtOnce(transactions, async (id) => {
          const found = await inTransaction(id, addresses);
          if (found.length === 0) throw unavailable(`transaction ${id} is in the logs of Base and has no receipt`);
          return found;
        });
        yield* payments.flat();
      }
    },

    inTransaction,
  };

  /** Lists the ids of transactions with a transfer to the addresses, piece by piece. */
  function transfersTo(addresses: readonly string[], span: Span): AsyncIterable<string[]> {
    const topics = [TRANSFER, null, addresses.map(addressTopic)];
    return inPieces(span, sizes, ask, async ({ from, to }, _, signal) => {
      const filter = { address: BASE.asset, topics, fromBlock: numberToHex(from), toBlock: numberToHex(to) };
      const read = async (rpc: EthereumRpc, ends: AbortSignal) => {
        const logs = await rpc.call("eth_getLogs", [filter], z.array(Log), ends);
        return logs.filter((log) => isTransfer(log) && log.blockNumber >= from && log.blockNumber <= to);
      };
      const about = `the transfers to us in blocks ${from} to ${to}`;
      const [logs] = await agree(rpcs, read, { about, same: factsOf, signal }, rules);
      return [...new Set(logs.map(({ transactionHash }) => transactionHash))];
    });
  }

  async function inTransaction(id: string, addresses: readonly string[]): Promise<ChainPayment[]> {
    const read = async (rpc: EthereumRpc, signal: AbortSignal) => {
      const receipt = await rpc.call("eth_getTransactionReceipt", [id], Receipt, signal);
      if (receipt && receipt.transactionHash !== id.toLowerCase())
        throw unavailable(`${rpc.name} answered with another receipt than ${id}'s`);
      return receipt?.status === 1 ? rpc.decode(() => paymentsIn(receipt, addresses)) : [];
    };
    const about = `the transfers to us in transaction ${id}`;
    const same = (payments: readonly ChainPayment[]) => JSON.stringify(payments, numbersAsText);
    const [payments] = await answersOf(rpcs, read, { about, same }, asking);
    return payments;
  }
}

function paymentsIn({ logs, blockNumber, transactionHash }: Receipt, addresses: readonly string[]): ChainPayment[] {
  return logs.flatMap((log) => {
    if (!isTransfer(log)) return [];
    const payTo = addresses.find((address) => addressTopic(address) === log.topics[2]);
    const amount = BigInt(log.data);
    if (payTo === undefined || amount === 0n) return [];
    // The token logs the transfer right after the use. A transaction may hold many such pairs.
    const nonce = logs.find((used) => used.logIndex === log.logIndex - 1 && isUse(used, log))?.topics[2];
    const payer = getAddress(slice(log.topics[1] as Hex, 12));
    return {
      rail: "base",
      key: nonce && `${BASE_MAINNET}/${TOKEN}/${payer.toLowerCase()}/${nonce}`,
      aliases: [],
      transaction: transactionHash,
      height: blockNumber,
      payer,
      payTo,
      amount,
      // An authorization is signed so that someone else submits it.
      relayed: nonce !== undefined,
    };
  });
}

function isTransfer({ address, topics, data }: Log): boolean {
  return address === TOKEN && topics[0] === TRANSFER && topics.length === 3 && data.length === 66;
}

function isUse(used: Log, transfer: Log): boolean {
  return used.address === TOKEN && used.topics[0] === USED && used.topics[1] === transfer.topics[1];
}

function factsOf(logs: readonly Log[]): string {
  const facts = logs.map(({ blockHash, transactionHash, logIndex }) => `${blockHash} ${transactionHash} ${logIndex}`);
  return hash("sha256", facts.toSorted().join());
}

function numbersAsText(_: string, value: unknown): unknown {
  return typeof value === "bigint" ? value.toString() : value;
}

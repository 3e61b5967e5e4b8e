import type { Hex } from "viem";
import { getAddress, slice } from "viem/utils";
import { z } from "zod";
import { type EthereumRpc, rpcBytes, rpcInteger } from "../../../providers/ethereum-rpc.ts";
import { lagging } from "./lag.ts";
import { type AuthorizationId, addressTopic, CANCELLED, Log, readBlock, TRANSFER, USED } from "./usdc-contract.ts";

/** How an authorization was spent, according to its token's logs. */
export type Use = { transaction: string; block: number; blockHash: string } & (
  | { kind: "used"; to: Hex; value: bigint }
  | { kind: "cancelled" }
);

const Receipt = z.object({
  status: rpcInteger,
  transactionHash: rpcBytes,
  blockHash: rpcBytes,
  blockNumber: rpcInteger,
  logs: z.array(Log),
});

/** Reads a use from its transaction's receipt, whose block must be in the chain. @throws ProviderError */
export async function readUse(
  rpc: EthereumRpc,
  id: AuthorizationId,
  transaction: string,
  signal: AbortSignal,
): Promise<Use> {
  const receipt = await rpc.call("eth_getTransactionReceipt", [transaction], Receipt.nullable(), signal);
  const canonical = receipt && (await readBlock(rpc, receipt.blockNumber, signal)).hash;
  if (receipt?.blockHash !== canonical || receipt?.transactionHash !== transaction)
    throw lagging(`${rpc.name} does not show transaction ${transaction} in a block of its chain`);
  const { blockNumber: block, blockHash } = receipt;
  return rpc.decode(() => {
    const place = receipt.logs.findIndex((log) => isOf(log, id));
    const [log, next] = receipt.logs.slice(place, place + 2);
    if (receipt.status !== 1 || place < 0 || !log) throw new Error("no successful transaction with that log");
    if (log.topics[0] === CANCELLED) return { kind: "cancelled", transaction, block, blockHash };
    return { kind: "used", transaction, block, blockHash, ...readTransfer(log, next) };
  });
}

/** Reads the transfer. The token logs it right after the use; a transaction may contain many such pairs. */
function readTransfer(used: Log, next: Log | undefined): { to: Hex; value: bigint } {
  const [event, from, to] = next?.topics ?? [];
  const follows = next?.address === used.address && next.logIndex === used.logIndex + 1;
  if (!follows || event !== TRANSFER || from !== used.topics[1] || to?.length !== 66 || next.data.length !== 66)
    throw new Error("no transfer follows the use of the authorization");
  return { to: getAddress(slice(to, 12)), value: BigInt(next.data) };
}

/** Checks a log against the filter, because a node may ignore the filter. */
export function isOf({ address, topics: [event, from, nonce] }: Log, id: AuthorizationId): boolean {
  return (
    address === id.token.toLowerCase() &&
    (event === USED || event === CANCELLED) &&
    from === addressTopic(id.from) &&
    nonce === id.nonce
  );
}

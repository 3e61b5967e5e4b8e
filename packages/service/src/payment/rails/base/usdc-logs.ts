import { encodeEventTopics, parseAbi } from "viem/utils";
import { z } from "zod";
import { rpcBytes, rpcInteger } from "../../../providers/ethereum-rpc.ts";

/* The logs of USDC (ERC-20, ERC-3009), as nodes send them. */

const EVENTS = parseAbi([
  "event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)",
  "event AuthorizationCanceled(address indexed authorizer, bytes32 indexed nonce)",
  "event Transfer(address indexed from, address indexed to, uint256 value)",
]);
export const [USED] = encodeEventTopics({ abi: EVENTS, eventName: "AuthorizationUsed" });
export const [CANCELLED] = encodeEventTopics({ abi: EVENTS, eventName: "AuthorizationCanceled" });
export const [TRANSFER] = encodeEventTopics({ abi: EVENTS, eventName: "Transfer" });

export const Log = z.object({
  address: rpcBytes,
  topics: z.array(rpcBytes),
  data: rpcBytes,
  logIndex: rpcInteger,
  blockNumber: rpcInteger,
  blockHash: rpcBytes,
  transactionHash: rpcBytes,
});
export type Log = z.infer<typeof Log>;

import { encodeEventTopics, parseAbi } from "viem/utils";
import { z } from "zod";
import { rpcBytes } from "./usdc-contract.ts";

/* What the logs of USDC tell (ERC-20, ERC-3009), as a node answers with them. */

const EVENTS = parseAbi([
  "event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)",
  "event AuthorizationCanceled(address indexed authorizer, bytes32 indexed nonce)",
  "event Transfer(address indexed from, address indexed to, uint256 value)",
]);
export const [USED] = encodeEventTopics({ abi: EVENTS, eventName: "AuthorizationUsed" });
export const [CANCELLED] = encodeEventTopics({ abi: EVENTS, eventName: "AuthorizationCanceled" });
export const [TRANSFER] = encodeEventTopics({ abi: EVENTS, eventName: "Transfer" });

/** A JSON-RPC quantity below 2^56, as a number. */
export const rpcInteger = z
  .string()
  .regex(/^0x[0-9a-fA-F]{1,14}$/)
  .transform(Number)
  .pipe(z.int());

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

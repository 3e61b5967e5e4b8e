import type { Hex } from "viem";
import {
  decodeFunctionResult,
  encodeEventTopics,
  encodeFunctionData,
  numberToHex,
  padHex,
  parseAbi,
  size,
  slice,
} from "viem/utils";
import { z } from "zod";
import {
  type Block,
  type EthereumNodes,
  type EthereumRpc,
  type Head,
  rpcBytes,
  rpcInteger,
} from "../../../providers/ethereum-rpc.ts";
import { refusalOf } from "../../../providers/json-rpc.ts";
import { agree } from "../../../providers/quorum.ts";
import { lagging } from "./lag.ts";

/** What identifies an EIP-3009 authorization. */
export type AuthorizationId = { token: Hex; from: Hex; nonce: Hex };

const TOKEN = parseAbi([
  "function name() view returns (string)",
  "function version() view returns (string)",
  "function balanceOf(address owner) view returns (uint256)",
  "function authorizationState(address authorizer, bytes32 nonce) view returns (bool)",
  "function isBlacklisted(address account) view returns (bool)",
  "function paused() view returns (bool)",
]);
const WALLET = parseAbi(["function isValidSignature(bytes32 hash, bytes signature) view returns (bytes4)"]);

/** A wallet contract's answer to a signature that it accepts (ERC-1271). */
const ACCEPTED = padHex("0x1626ba7e", { dir: "right", size: 32 });
/** geth's error code for a call that the contract reverted, and the texts of other nodes. */
const REVERTED = 3;
const FAILED_IN_CONTRACT = /revert|out of gas|opcode/i;

/** The logs of the token (ERC-20, ERC-3009). */
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

/** Encodes an address as a topic of a log: 32 bytes. */
export function addressTopic(address: string): Hex {
  return padHex(address.toLowerCase() as Hex, { size: 32 });
}

/**
 * Reads a token's EIP-712 name and version from a quorum of the nodes.
 *
 * @throws ProviderError
 */
export async function readTokenDomain(
  { rpcs, rules }: EthereumNodes,
  token: Hex,
  signal: AbortSignal,
): Promise<{ name: string; version: string }> {
  const read = async (rpc: EthereumRpc, functionName: "name" | "version", ends: AbortSignal) => {
    const call = { to: token, data: encodeFunctionData({ abi: TOKEN, functionName }) };
    const answer = await rpc.call("eth_call", [call, "latest"], rpcBytes, ends);
    return rpc.decode(() => decodeFunctionResult({ abi: TOKEN, functionName, data: answer }));
  };
  const readBoth = async (rpc: EthereumRpc, ends: AbortSignal) => {
    const [name, version] = await Promise.all([read(rpc, "name", ends), read(rpc, "version", ends)]);
    return { name, version };
  };
  const question = { about: `the EIP-712 domain of ${token}`, same: JSON.stringify, signal };
  const [domain] = await agree(rpcs, readBoth, question, rules);
  return domain;
}

/** Reads a block that the node must have. @throws ProviderError, for which `isLag` is true if it lacks the block */
export async function readBlock(rpc: EthereumRpc, at: Head | number, signal: AbortSignal): Promise<Block> {
  const block = await rpc.block(at, signal);
  if (!block || (typeof at === "number" && block.number !== at)) throw lagging(`${rpc.name} has no block ${at}`);
  return block;
}

/** Reads an address's balance of a token, in atomic units. @throws ProviderError */
export async function readBalance(rpc: EthereumRpc, token: Hex, owner: Hex, signal: AbortSignal): Promise<bigint> {
  const functionName = "balanceOf";
  const call = { to: token, data: encodeFunctionData({ abi: TOKEN, functionName, args: [owner] }) };
  const answer = await rpc.call("eth_call", [call, "latest"], rpcBytes, signal);
  return rpc.decode(() => decodeFunctionResult({ abi: TOKEN, functionName, data: answer }));
}

/**
 * Returns why the token lets nobody pay an address now (FiatToken, `Blacklistable` and `Pausable`).
 * @returns a clause with the address as its subject; undefined when it can be paid
 * @throws ProviderError
 */
export async function readPayeeFault(
  rpc: EthereumRpc,
  token: Hex,
  payee: Hex,
  signal: AbortSignal,
): Promise<string | undefined> {
  const ask = async (data: Hex) => rpc.call("eth_call", [{ to: token, data }, "latest"], rpcBytes, signal);
  const [blacklisted, paused] = await Promise.all([
    ask(encodeFunctionData({ abi: TOKEN, functionName: "isBlacklisted", args: [payee] })),
    ask(encodeFunctionData({ abi: TOKEN, functionName: "paused" })),
  ]);
  return rpc.decode(() => {
    if (decodeFunctionResult({ abi: TOKEN, functionName: "isBlacklisted", data: blacklisted }))
      return "is on USDC's blacklist";
    const isPaused = decodeFunctionResult({ abi: TOKEN, functionName: "paused", data: paused });
    return isPaused ? "can be paid nothing while USDC is paused" : undefined;
  });
}

/**
 * Whether the nonce was used or cancelled up to a block. This is permanent (EIP-3009).
 * @throws ProviderError
 */
export async function isAuthorizationUsed(
  rpc: EthereumRpc,
  { token, from, nonce }: AuthorizationId,
  block: number,
  signal: AbortSignal,
): Promise<boolean> {
  const functionName = "authorizationState";
  const call = { to: token, data: encodeFunctionData({ abi: TOKEN, functionName, args: [from, nonce] }) };
  const answer = await rpc.call("eth_call", [call, numberToHex(block)], rpcBytes, signal);
  return rpc.decode(() => decodeFunctionResult({ abi: TOKEN, functionName, data: answer }));
}

/**
 * Asks the contract at an address whether it accepts a signature as its own (ERC-1271).
 * @param maxGas that the contract may spend on the answer
 * @throws ProviderError
 */
export async function askWallet(
  rpc: EthereumRpc,
  wallet: Hex,
  digest: Hex,
  signature: Hex,
  { maxGas }: { maxGas: number },
  signal: AbortSignal,
): Promise<"accepted" | "refused" | "no contract"> {
  if ((await rpc.call("eth_getCode", [wallet, "latest"], rpcBytes, signal)) === "0x") return "no contract";
  const input = encodeFunctionData({ abi: WALLET, functionName: "isValidSignature", args: [digest, signature] });
  try {
    const call = { to: wallet, data: input, gas: numberToHex(maxGas) };
    const answer = await rpc.call("eth_call", [call, "latest"], rpcBytes, signal, { breakerName: "foreign" });
    return size(answer) >= 32 && slice(answer, 0, 32) === ACCEPTED ? "accepted" : "refused";
  } catch (error) {
    const refusal = refusalOf(error);
    const hasReverted = refusal && (refusal.details.rpcCode === REVERTED || FAILED_IN_CONTRACT.test(refusal.message));
    if (hasReverted) return "refused";
    throw error;
  }
}

/** Reads the input of a transaction that the node must have, in lower-case hex. @throws ProviderError */
export async function readInput(rpc: EthereumRpc, transaction: string, signal: AbortSignal): Promise<Hex> {
  const { input } = await rpc.call("eth_getTransactionByHash", [transaction], z.object({ input: rpcBytes }), signal);
  return input;
}

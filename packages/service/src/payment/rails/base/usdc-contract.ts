import type { Hex } from "viem";
import { decodeFunctionResult, encodeFunctionData, numberToHex, padHex, parseAbi, size, slice } from "viem/utils";
import { z } from "zod";
import type { Block, EthereumNodes, EthereumRpc, Head } from "../../../providers/ethereum-rpc.ts";
import { hexBytes } from "../../../providers/hex-bytes.ts";
import { RpcRefusal } from "../../../providers/json-rpc.ts";
import { ProviderError, unavailable } from "../../../providers/provider.ts";
import { agree } from "../../../providers/quorum.ts";

/** An EIP-3009 authorization as its token remembers it. */
export type AuthorizationId = { token: Hex; from: Hex; nonce: Hex };

const TOKEN = parseAbi([
  "function name() view returns (string)",
  "function version() view returns (string)",
  "function balanceOf(address owner) view returns (uint256)",
  "function authorizationState(address authorizer, bytes32 nonce) view returns (bool)",
]);
const WALLET = parseAbi(["function isValidSignature(bytes32 hash, bytes signature) view returns (bytes4)"]);

/** The word that a wallet's contract answers to a signature which it accepts (ERC-1271). */
const ACCEPTED = padHex("0x1626ba7e", { dir: "right", size: 32 });
/** The code of a call that the contract reverted, which geth began, and how other nodes word it. */
const REVERTED = 3;
const FAILED_IN_CONTRACT = /revert|out of gas|opcode/i;

/** Bytes in hex, lower-cased. */
export const rpcBytes = hexBytes.transform((text) => text.toLowerCase() as Hex);

/**
 * Reads a token's EIP-712 name and version, by the word of the quorum.
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
    const answer = await ask(rpc, rpcBytes, "eth_call", [call, "latest"], ends);
    return decoded(rpc, () => decodeFunctionResult({ abi: TOKEN, functionName, data: answer }));
  };
  const readBoth = async (rpc: EthereumRpc, ends: AbortSignal) => {
    const [name, version] = await Promise.all([read(rpc, "name", ends), read(rpc, "version", ends)]);
    return { name, version };
  };
  const question = { about: `the EIP-712 domain of ${token}`, same: JSON.stringify, signal };
  const [domain] = await agree(rpcs, readBoth, question, rules);
  return domain;
}

/** A block that the node must have. @throws ProviderError */
export async function readBlock(rpc: EthereumRpc, at: Head | number, signal: AbortSignal): Promise<Block> {
  const block = await rpc.block(at, signal);
  if (!block || (typeof at === "number" && block.number !== at)) throw unavailable(`${rpc.name} has no block ${at}`);
  return block;
}

/** What an address holds of a token, in its atomic units. @throws ProviderError */
export async function readBalance(rpc: EthereumRpc, token: Hex, owner: Hex, signal: AbortSignal): Promise<bigint> {
  const functionName = "balanceOf";
  const call = { to: token, data: encodeFunctionData({ abi: TOKEN, functionName, args: [owner] }) };
  const answer = await ask(rpc, rpcBytes, "eth_call", [call, "latest"], signal);
  return decoded(rpc, () => decodeFunctionResult({ abi: TOKEN, functionName, data: answer }));
}

/**
 * Whether the nonce was used or cancelled in any block up to that one. Once it is, it is for ever (EIP-3009).
 *
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
  const answer = await ask(rpc, rpcBytes, "eth_call", [call, numberToHex(block)], signal);
  return decoded(rpc, () => decodeFunctionResult({ abi: TOKEN, functionName, data: answer }));
}

/**
 * Has the contract at an address say whether it accepts a signature as its own (ERC-1271).
 *
 * @param maxGas that the contract may take for it
 *
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
  if ((await ask(rpc, rpcBytes, "eth_getCode", [wallet, "latest"], signal)) === "0x") return "no contract";
  const input = encodeFunctionData({ abi: WALLET, functionName: "isValidSignature", args: [digest, signature] });
  try {
    const call = { to: wallet, data: input, gas: numberToHex(maxGas) };
    const answer = await ask(rpc, rpcBytes, "eth_call", [call, "latest"], signal, true);
    return size(answer) >= 32 && slice(answer, 0, 32) === ACCEPTED ? "accepted" : "refused";
  } catch (error) {
    if (error instanceof ProviderError && hasFailedInContract(error.cause)) return "refused";
    throw error;
  }
}

/** The input of a transaction that the node must have, in lower-case hex. @throws ProviderError */
export async function readInput(rpc: EthereumRpc, transaction: string, signal: AbortSignal): Promise<Hex> {
  const { input } = await ask(rpc, z.object({ input: rpcBytes }), "eth_getTransactionByHash", [transaction], signal);
  return input;
}

function hasFailedInContract(refusal: unknown): boolean {
  return refusal instanceof RpcRefusal && (refusal.code === REVERTED || FAILED_IN_CONTRACT.test(refusal.message));
}

/** Calls a method whose answer has a shape. @throws ProviderError, its cause the RpcRefusal when the node refused */
export async function ask<S extends z.ZodType>(
  rpc: EthereumRpc,
  schema: S,
  method: string,
  params: readonly unknown[],
  signal: AbortSignal,
  isForeign = false,
): Promise<z.infer<S>> {
  const answer = await rpc.call(method, params, signal, isForeign).catch((error: unknown) => {
    throw error instanceof RpcRefusal ? unavailable(error.message, error) : error;
  });
  return decoded(rpc, () => schema.parse(answer));
}

/** Runs a decoder of a node's data: what it throws is the node's failure. */
export function decoded<T>(rpc: EthereumRpc, decoder: () => T): T {
  try {
    return decoder();
  } catch (error) {
    throw unavailable(`${rpc.name} answered with data that cannot be read`, error);
  }
}

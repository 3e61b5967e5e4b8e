import { bytesToNumberBE } from "@noble/curves/utils.js";
import { toHex } from "../encoding.ts";

/** The type of an argument, by the Solidity ABI. */
type AbiType = "address" | "uint256" | "uint8" | "bytes32" | "bytes";

/** A token's call (ERC-20, EIP-3009, EIP-2612) whose arguments name the accounts and the amount. */
export type TokenCall =
  | { does: "transfer"; to: Uint8Array; units: bigint }
  /** `bySignature`: `from` signed for it, and any account may submit it. */
  | { does: "transferFrom"; from: Uint8Array; to: Uint8Array; units: bigint; bySignature: boolean }
  /** `owner`: undefined where the caller is the owner. */
  | { does: "approve"; owner?: Uint8Array; spender: Uint8Array; units: bigint };

const WORD = 32;

type Read = {
  types: AbiType[];
  make(address: (index: number) => Uint8Array, units: (index: number) => bigint): TokenCall;
};

function call(types: string, make: Read["make"]): Read {
  return { types: types.split(" ") as AbiType[], make };
}

const authorized: Read["make"] = (address, units) => {
  return { does: "transferFrom", from: address(0), to: address(1), units: units(2), bySignature: true };
};
const permitted: Read["make"] = (address, units) => {
  return { does: "approve", owner: address(0), spender: address(1), units: units(2) };
};
const AUTHORIZATION = "address address uint256 uint256 uint256 bytes32";
const PERMISSION = "address address uint256 uint256";

/** The known calls, by selector. */
const CALLS: ReadonlyMap<string, Read> = new Map([
  // transfer(address to, uint256 value)
  ["a9059cbb", call("address uint256", (address, units) => ({ does: "transfer", to: address(0), units: units(1) }))],
  // transferFrom(address from, address to, uint256 value)
  [
    "23b872dd",
    call("address address uint256", (address, units) => {
      return { does: "transferFrom", from: address(0), to: address(1), units: units(2), bySignature: false };
    }),
  ],
  // approve(address spender, uint256 value)
  [
    "095ea7b3",
    call("address uint256", (address, units) => ({ does: "approve", spender: address(0), units: units(1) })),
  ],
  // transferWithAuthorization and receiveWithAuthorization(from, to, value, validAfter, validBefore, nonce, signature)
  ["e3ee160e", call(`${AUTHORIZATION} uint8 bytes32 bytes32`, authorized)],
  ["cf092995", call(`${AUTHORIZATION} bytes`, authorized)],
  ["ef55bec6", call(`${AUTHORIZATION} uint8 bytes32 bytes32`, authorized)],
  ["88b7ab63", call(`${AUTHORIZATION} bytes`, authorized)],
  // permit(owner, spender, value, deadline, signature)
  ["d505accf", call(`${PERMISSION} uint8 bytes32 bytes32`, permitted)],
  ["9fd5a6cf", call(`${PERMISSION} bytes`, permitted)],
]);

/**
 * Reads a token's call, if its arguments have their one exact ABI encoding. Undefined for any other function, length,
 * padding or offset, because their meaning depends on the contract's code.
 */
export function readTokenCall(data: Uint8Array): TokenCall | undefined {
  const read = CALLS.get(toHex(data.subarray(0, 4)));
  const input = data.subarray(4);
  if (read === undefined || !isEncodingOf(read.types, input)) return undefined;
  const word = (index: number) => input.subarray(index * WORD, (index + 1) * WORD);
  return read.make(
    (index) => word(index).subarray(12),
    (index) => bytesToNumberBE(word(index)),
  );
}

function isEncodingOf(types: readonly AbiType[], input: Uint8Array): boolean {
  const head = types.length * WORD;
  // The only type of several words is the last one, so its contents follow the head.
  const isDynamic = types.at(-1) === "bytes";
  if (isDynamic ? input.length < head + WORD : input.length !== head) return false;
  return types.every((type, index) => {
    const word = input.subarray(index * WORD, (index + 1) * WORD);
    if (type === "address") return isZero(word.subarray(0, 12));
    if (type === "uint8") return isZero(word.subarray(0, 31));
    if (type !== "bytes") return true;
    return bytesToNumberBE(word) === BigInt(head) && isPadded(input.subarray(head));
  });
}

/** Whether the tail of the arguments is a length, as many bytes, and zeros to the end of the last word. */
function isPadded(tail: Uint8Array): boolean {
  const length = bytesToNumberBE(tail.subarray(0, WORD));
  if (length > BigInt(tail.length)) return false;
  const end = WORD + Number(length);
  return tail.length === Math.ceil(end / WORD) * WORD && isZero(tail.subarray(end));
}

function isZero(bytes: Uint8Array): boolean {
  return bytes.every((byte) => byte === 0);
}

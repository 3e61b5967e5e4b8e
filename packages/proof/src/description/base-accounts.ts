import { secp256k1 } from "@noble/curves/secp256k1.js";
import { keccak_256 } from "@noble/hashes/sha3.js";
import { decodeQuantity, encodeQuantity, encodeRlp, type RlpItem } from "../base/rlp.ts";
import { type BaseTransaction, DEPOSIT_TYPE, transactionChainId } from "../base/transaction.ts";
import { concatBytes, toHex, utf8 } from "../encoding.ts";

/** Encodes an account's address with EIP-55's checksum. @param address 20 bytes */
export function encodeEvmAddress(address: Uint8Array): string {
  const digits = toHex(address);
  const hash = toHex(keccak_256(utf8(digits)));
  const spelled = digits.replace(/[a-f]/g, (digit, place: number) =>
    Number.parseInt(hash.charAt(place), 16) > 7 ? digit.toUpperCase() : digit,
  );
  return `0x${spelled}`;
}

/**
 * Returns the 20 bytes of a transaction's sender: the account that signed it, or the `from` of a deposit. Undefined for
 * an opaque type, and for a signature that no chain accepts (EIP-2: a high s).
 */
export function senderOf(transaction: BaseTransaction): Uint8Array | undefined {
  const { type, fields } = transaction;
  if (fields === undefined) return undefined;
  const members = [...fields.values()];
  if (type === DEPOSIT_TYPE) return fields.get("from") as Uint8Array;
  const signed = members.slice(0, -3);
  const [v = 0n, r = 0n, s = 0n] = members.slice(-3).map((item) => decodeQuantity(item as Uint8Array));
  if (type !== 0) return signerOf(concatBytes(Uint8Array.of(type), encodeRlp(signed)), v, r, s);
  const chainId = transactionChainId(transaction);
  if (chainId === undefined) return signerOf(encodeRlp(signed), v - 27n, r, s);
  const replayProtected: RlpItem[] = [...signed, encodeQuantity(chainId), new Uint8Array(), new Uint8Array()];
  return signerOf(encodeRlp(replayProtected), (v - 35n) % 2n, r, s);
}

function signerOf(signed: Uint8Array, parity: bigint, r: bigint, s: bigint): Uint8Array | undefined {
  if (parity !== 0n && parity !== 1n) return undefined;
  try {
    const signature = new secp256k1.Signature(r, s, Number(parity));
    if (signature.hasHighS()) return undefined;
    const publicKey = signature.recoverPublicKey(keccak_256(signed)).toBytes(false);
    return keccak_256(publicKey.subarray(1)).subarray(-20);
  } catch {
    // r or s is out of range, or r is not the x coordinate of a point.
    return undefined;
  }
}

/** Returns the 20 bytes of the address of the contract that a sender deploys with this nonce. */
export function deployedAddress(sender: Uint8Array, nonce: Uint8Array): Uint8Array {
  return keccak_256(encodeRlp([sender, nonce])).subarray(-20);
}

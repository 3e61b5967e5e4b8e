import { toHex } from "../encoding.ts";
import { encodeEvmAddress } from "./base-accounts.ts";
import { account, type Description, type Party, type Words } from "./description.ts";

/** The call or transfer that a transaction asks for. */
export type Message = {
  /** 20 bytes; undefined where the signature names none. */
  sender: Uint8Array | undefined;
  /** 20 bytes; undefined for a deployment. */
  to: Uint8Array | undefined;
  /** Wei. */
  value: bigint;
  data: Uint8Array;
};

/** The parts of a description that depend on what the transaction does. */
export type Meaning = Omit<Description, "fields" | "sender" | "remarks"> & { remarks?: string[] };

/** Names an account in a sentence: `itself` for `self`, the account that acts. @param address 20 bytes */
export function named(address: Uint8Array | undefined, self?: Uint8Array): Words {
  if (address === undefined) return ["an account that is not known"];
  return isSame(address, self) ? ["itself"] : account(encodeEvmAddress(address));
}

/** Returns a party with this role; none if the address is unknown. */
export function party(role: string, address: Uint8Array | undefined): Party[] {
  return address ? [{ role, account: encodeEvmAddress(address) }] : [];
}

export function isSame(a: Uint8Array | undefined, b: Uint8Array | undefined): boolean {
  return a !== undefined && b !== undefined && toHex(a) === toHex(b);
}

import { concatBytes, utf8 } from "../encoding.ts";
import { sha512_256 } from "../sha2.ts";

/*
 * Accounts that authorise with Falcon-1024, since consensus v42. Source: go-algorand, `data/transactions/pqsig.go`,
 * `data/basics/pq_address.go`.
 */

const ADDRESS = utf8("PQA");
/** The scheme's name, Falcon-1024. */
export const FALCON_SCHEME = "f1";

/** Returns the account of a Falcon key: 32 bytes, the address without its checksum. @param salt 0 to 255 */
export function falconAccount(salt: number, publicKey: Uint8Array): Uint8Array {
  return sha512_256(concatBytes(ADDRESS, utf8(FALCON_SCHEME), Uint8Array.of(salt), publicKey));
}

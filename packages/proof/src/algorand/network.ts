import { toBase64Url } from "../encoding.ts";

/** CAIP-2 of Algorand MainNet, the ledger of record. */
export const ALGORAND_MAINNET = "algorand:wGHE2Pwdvd7S12BL5FaOP20EGYesN73k";
/** CAIP-2 of the public networks of Algorand. */
export const ALGORAND_PUBLIC_NETWORKS: readonly string[] = [
  ALGORAND_MAINNET,
  // TestNet and BetaNet, by their genesis hashes.
  "algorand:SGO1GKSzyE7IEPItTxCByw9x8FmnrCDe",
  "algorand:mFgazF-2uRS1tMiL9dsj01hJGySEmPN2",
];
/** The 32-byte genesis hash of Algorand MainNet, base64, as nodes print it. */
export const ALGORAND_MAINNET_GENESIS_HASH = "wGHE2Pwdvd7S12BL5FaOP20EGYesN73ktiC1qzkkit8=";

/**
 * CAIP-2 of an Algorand network: the first 32 characters of its genesis hash in base64url, CAIP-2 allowing no more.
 * @param genesisHash 32 bytes
 */
export function algorandCaip2(genesisHash: Uint8Array): string {
  if (genesisHash.length !== 32) throw new TypeError("an Algorand genesis hash has 32 bytes");
  return `algorand:${toBase64Url(genesisHash).slice(0, 32)}`;
}

/** Whether the text is CAIP-2 of an Algorand network, in this project's form. */
export function isAlgorandCaip2(text: string): boolean {
  return /^algorand:[A-Za-z0-9_-]{32}$/.test(text);
}

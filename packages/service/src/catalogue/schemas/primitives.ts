import { ALGORAND_ID } from "@attestd/proof/algorand";
import { z } from "zod";
import { bundlePattern, EXPECTED_NAME, NAMES, ofEachChain } from "../sources.ts";

/** Parts that several schemas share. Patterns are anchored, and match at least what `proof` accepts. */

export const Chain = z
  .enum(NAMES, EXPECTED_NAME)
  .describe(`The source chain, and its main network by CAIP-2. ${ofEachChain(({ caip2 }) => caip2)}`);

export const AlgorandTxId = z
  .string()
  .regex(ALGORAND_ID.pattern)
  .describe(`Algorand transaction id: ${ALGORAND_ID.description}.`);

export const TransactionId = z
  .string()
  .regex(bundlePattern("transactionId"))
  .describe(`The id of a transaction. ${ofEachChain(({ transactionId }) => transactionId.description)}`);

export const AlgorandAddress = z
  .string()
  .regex(/^[A-Z2-7]{58}$/)
  .describe("Algorand address: 58 characters of base32.");

export const Sha256Hex = z
  .string()
  .regex(/^[0-9a-f]{64}$/)
  .describe("SHA-256, lower-case hex.");

export const Base64Url32 = z.string().regex(/^[A-Za-z0-9_-]{43}$/);

/** Standard padded base64 of at least one byte. */
export const Base64 = z.base64().min(4);

export const PqPublicKey = z
  .base64()
  .length(2604)
  .describe("Raw ML-DSA-65 public key (FIPS 204), 1952 bytes, standard base64.");

export const SafeInteger = z.int().min(0).max(Number.MAX_SAFE_INTEGER);

/** The name of a network after CAIP-2, such as `algorand:wGHE2Pwdvd7S12BL5FaOP20EGYesN73k`. */
export const Caip2 = z.string().regex(/^[a-z0-9-]{3,8}:[A-Za-z0-9_-]{1,32}$/);

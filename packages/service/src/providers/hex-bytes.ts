import { z } from "zod";

/**
 * Bytes in hex, as JSON-RPC has them: `0x` and an even number of digits, of either case. The pattern has no repeated group:
 * the engine would store a backtracking point for each repetition, and run out of them at some 16 MB.
 */
export const hexBytes = z
  .string()
  .regex(/^0x[0-9a-fA-F]*$/)
  .refine((text) => text.length % 2 === 0, "has half a byte");

/** A quantity as JSON-RPC has it: `0x` and hex of at least one digit; nodes differ in leading zeros. */
export const hexQuantity = z.string().regex(/^0x[0-9a-fA-F]{1,64}$/);

import { z } from "zod";

/**
 * Hex bytes in JSON-RPC: `0x` and an even number of digits, of either case. The pattern has no repeated group: the
 * engine would store a backtracking point for each repetition, and run out of them at some 16 MB.
 */
export const hexBytes = z
  .string()
  .regex(/^0x[0-9a-fA-F]*$/)
  .refine((text) => text.length % 2 === 0, "has half a byte");

/** A quantity in JSON-RPC: `0x` and at least one hex digit; nodes differ in leading zeros. */
export const hexQuantity = z.string().regex(/^0x[0-9a-fA-F]{1,64}$/);

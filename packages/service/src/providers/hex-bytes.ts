import { z } from "zod";

/**
 * Bytes in hex, as JSON-RPC has them: `0x` and an even number of digits, of either case. The pattern has no group that
 * repeats: for each repetition of one the engine keeps a place to go back to, and runs out of them at some 16 MB.
 */
export const hexBytes = z
  .string()
  .regex(/^0x[0-9a-fA-F]*$/)
  .refine((text) => text.length % 2 === 0, "has half a byte");

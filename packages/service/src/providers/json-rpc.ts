import { z } from "zod";

/** An upstream answered with a JSON-RPC error: it lacks the method or the data, or refuses the call. */
export class RpcRefusal extends Error {
  /** JSON-RPC 2.0 section 5.1, EIP-1474; of Solana: agave's rpc-client-api, custom_error.rs. */
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.name = "RpcRefusal";
    this.code = code;
  }
}

/** An answer of JSON-RPC 2.0. */
export const RpcResponse = z.object({
  result: z.unknown().optional(),
  error: z.object({ code: z.number(), message: z.string() }).nullish(),
});

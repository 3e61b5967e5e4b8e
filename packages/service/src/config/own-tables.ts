import type { ChainFormat } from "@attestd/proof";
import { z } from "zod";
import { nodes, price } from "./formats.ts";

/** A table of settings that a folder of its own describes. */
export type OwnTable<S extends z.ZodObject = z.ZodObject> = { readonly name: string; readonly own: S };

/** The settings of a chain, `[chains.<name>]`. Without `rpc` the chain is not configured. */
export type ChainTable<S extends z.ZodObject = z.ZodObject> = OwnTable<S>;

/** The settings of a rail, `[rails.<name>]`: `pay_to`, which enables it, `price_micro_usdc`, and its own. */
export type RailTable<S extends z.ZodObject = z.ZodObject> = OwnTable<S> & {
  /** The form of a payee's address. */
  readonly payTo: z.ZodType<string>;
  /** Whether the rail is always enabled. */
  readonly isRequired?: boolean;
  /** The chain without whose nodes the rail cannot be enabled. */
  readonly chain?: ChainTable;
};

/** The tables that are not the service's own. */
export type OwnTables = { readonly rails: readonly RailTable[]; readonly chains: readonly ChainTable[] };

/** The settings of a source chain with JSON-RPC nodes. @param more its further settings */
export function chainTable<S extends z.core.$ZodLooseShape>({ name, label, levels }: ChainFormat, more: S) {
  const level = z.enum(levels as readonly Level[], `must be one of ${levels.join(", ")}`);
  const own = z.strictObject({
    rpc: nodes.optional().meta({
      description: `JSON-RPC nodes of ${label}; without them nothing on it can be attested or paid.`,
      example: [`https://${name}.example`],
      mayBeSecret: true,
    }),
    transaction_level: level
      .default(levels.includes("safe") ? "safe" : "finalized")
      .describe(`Level that a transaction must have: ${levels.join(", ")}.`),
    block_level: level.default("finalized").describe("Level that a block must have, likewise."),
    ...more,
  });
  return { name, own };
}

type Level = ChainFormat["levels"][number];

/** The settings of a rail in its table. */
export function railShape({ name, payTo, isRequired, own }: RailTable) {
  const payee = "Address that is paid, of an account whose key stays off this host";
  return {
    pay_to: isRequired
      ? payTo.meta({ description: `${payee}; required.` })
      : payTo.optional().meta({ description: `${payee}; it enables the rail.` }),
    price_micro_usdc: price.optional().meta({
      description: `Price of a call that is paid on ${name}: a facilitator may take as much as the price.`,
      otherwise: "prices.call_micro_usdc",
      example: 1000,
    }),
    ...own.shape,
  };
}

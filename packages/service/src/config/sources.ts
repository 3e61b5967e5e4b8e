import { CHAINS } from "@attestd/proof";
import { z } from "zod";
import { endpoints, type UpstreamNode } from "./formats.ts";

/** How a source chain is read. */
export type SourceSettings = {
  rpc: UpstreamNode[];
  /** The levels that transactions, and blocks and proofs in them, must have reached. */
  confirmation: Level;
  blockConfirmation: Level;
};

type Level = (typeof CHAINS)[number]["levels"][number];

/** The chains with settings of their own: Algorand's nodes are the ledger's. */
const SOURCES = CHAINS.filter(({ name }) => name !== "algorand").map((chain) => {
  const prefix = chain.name.toUpperCase();
  const rpc = `${prefix}_RPC_URL`;
  const confirmation = `${prefix}_CONFIRMATION`;
  const blockConfirmation = `${prefix}_BLOCK_CONFIRMATION`;
  const level = z.enum(chain.levels, `must be one of ${chain.levels.join(", ")}`);
  const shape = {
    [rpc]: endpoints.optional(),
    [confirmation]: level.default(chain.levels.includes("safe") ? "safe" : "finalized"),
    [blockConfirmation]: level.default("finalized"),
  };
  const read = (values: Readonly<Record<string, unknown>>): [name: string, SourceSettings][] => {
    const urls = values[rpc] as string[] | undefined;
    const levels = {
      confirmation: values[confirmation] as Level,
      blockConfirmation: values[blockConfirmation] as Level,
    };
    return urls ? [[chain.name, { rpc: urls.map((url) => ({ url })), ...levels }]] : [];
  };
  return { prefix, shape, read };
});

/** What a setting of a source chain begins with, but for its underscore. */
export const SOURCE_PREFIXES: readonly string[] = SOURCES.map(({ prefix }) => prefix);

/** The settings of every source chain. */
export const SourceVariables = z.object(
  Object.assign({}, ...SOURCES.map(({ shape }) => shape)) as Record<string, z.ZodType>,
);

/** The chains that are configured, by name. @param values as `SourceVariables` gives them */
export function readSources(values: Readonly<Record<string, unknown>>): Record<string, SourceSettings> {
  return Object.fromEntries(SOURCES.flatMap(({ read }) => read(values)));
}

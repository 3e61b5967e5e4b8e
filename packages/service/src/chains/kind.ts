import type { ChainFormat } from "@attestd/proof";
import type { z } from "zod";
import type { Config } from "../config/config.ts";
import type { Witnesses } from "../health/witnesses.ts";
import type { Location } from "../providers/algorand-nodes.ts";
import type { QuorumRules } from "../providers/quorum.ts";
import type { RunWork } from "./block-work.ts";
import type { SourceChain } from "./chain.ts";

/** The settings that the source chains are opened from. */
export type ChainSettings = Pick<Config, "algorand" | "sources" | "extraSourceChains">;

/** What an open chain shares with the rest of the service. */
export type ChainOptions = {
  /** Finds a transaction on the ledger by the rounds that were read already, at less cost to the nodes. */
  locate?: ((txnId: string, signal: AbortSignal) => Promise<Location | undefined>) | undefined;
  /** Runs the chain's block work; on the calling thread unless given. */
  run?: RunWork | undefined;
};

/** What of a chain's blocks can be attested and proven, for people and for programs. */
export type BlockFacts = {
  /** What `height` counts. */
  height: string;
  /** What `headerBase64` holds, and how `blockHash` comes from it. */
  header: string;
  blockHash: string;
  inclusion: {
    kind: string;
    /** The header's fields that a proof may lead to. */
    trees: readonly { root: string; of: string; form: string; when: string }[];
    /** What a proof may carry beyond the path to the header. */
    optional: Readonly<Record<string, string>>;
    transactionTypes: { known: readonly string[]; others: string };
    notProvable: readonly string[];
  };
  doesNotProve: readonly string[];
};

/**
 * A source chain as its folder exports it; `registry.ts` lists them. The chain's formats are those of `@attestd/proof`.
 *
 * @typeParam N the clients of its nodes
 */
export interface SourceChainKind<N extends object = object> {
  readonly format: ChainFormat;
  /** The schema of `inclusion` in its bundles. */
  readonly inclusion: z.ZodObject;
  readonly blocks: BlockFacts;
  /** Requests for documents, but for their `chain`. */
  readonly examples: {
    attest: { txid: string };
    block: { height: number | string };
    inclusion?: { txId: string; height: number };
  };
  /** The module of its block work, for worker threads. */
  readonly work: URL;

  /** Makes clients of the configured nodes, and sends nothing. @returns undefined where the chain is not configured */
  connect(settings: ChainSettings, rules: QuorumRules): N | undefined;

  /** The nodes without which its transactions cannot be found. @param nodes as `connect` made them */
  witnesses(nodes: N): Witnesses;

  /** @param nodes as `connect` made them */
  open(nodes: N, settings: ChainSettings, options: ChainOptions): SourceChain;
}

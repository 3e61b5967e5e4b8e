import type { ChainFormat } from "@attestd/proof";
import type { z } from "zod";
import type { Config } from "../config/config.ts";
import type { ChainTable } from "../config/own-tables.ts";
import type { Examination, Finding } from "../health/finding.ts";
import type { Witnesses } from "../health/witnesses.ts";
import type { Location } from "../providers/algorand-nodes.ts";
import type { QuorumRules } from "../providers/quorum.ts";
import type { RunWork } from "./block-work.ts";
import type { SourceChain } from "./chain.ts";

/** The settings for opening source chains. */
export type ChainSettings = Pick<Config, "algorand" | "own" | "extraSourceChains">;

/** What an open chain shares with the rest of the service. */
export type ChainOptions = {
  /** Finds a transaction on the ledger in the rounds that were already read, at less cost to the nodes. */
  locate?: ((txnId: string, signal: AbortSignal) => Promise<Location | undefined>) | undefined;
  /** Returns a block of the ledger that was already read, `{block, cert}` in msgpack, on whose header and ids the nodes agreed. */
  readBlock?: ((round: number) => Uint8Array | undefined) | undefined;
  /** Runs the chain's block work; by default on the calling thread. */
  run?: RunWork | undefined;
};

/** Describes what can be attested and proven about a chain's blocks, for people and programs. */
export type BlockFacts = {
  /** The unit of `height`. */
  height: string;
  /** What `headerBase64` holds, and how `blockHash` is computed from it. */
  header: string;
  blockHash: string;
  inclusion: {
    kind: string;
    /** The header's fields to which a proof may lead. */
    trees: readonly { root: string; of: string; form: string; when: string }[];
    /** What a proof may contain besides the path to the header. */
    optional: Readonly<Record<string, string>>;
    transactionTypes: { known: readonly string[]; others: string };
    notProvable: readonly string[];
  };
  doesNotProve: readonly string[];
};

/**
 * A source chain, as its folder exports it; `registry.ts` lists them all. The chain's formats are in `@attestd/proof`.
 * @typeParam N the clients of its nodes
 */
export interface SourceChainKind<N extends object = object> {
  readonly format: ChainFormat;
  /** Its settings. Absent: its nodes are the ledger's. */
  readonly settings?: ChainTable;
  /** The schema of `inclusion` in its bundles. */
  readonly inclusion: z.ZodObject;
  readonly blocks: BlockFacts;
  /** Example requests for documents, without their `chain`. */
  readonly examples: {
    attest: { txid: string };
    block: { height: number | string };
    inclusion?: { txId: string; height: number };
  };
  /** The module with its block work, for worker threads. */
  readonly work: URL;

  /** Makes clients of the configured nodes, and sends nothing. @returns undefined if the chain is not configured */
  connect(settings: ChainSettings, rules: QuorumRules): N | undefined;

  /** Returns the nodes without which its transactions cannot be found. @param nodes from `connect` */
  witnesses(nodes: N): Witnesses;

  /**
   * Examines the nodes for the operator. Absent if they are the ledger's.
   * @param nodes from `connect`
   */
  examine?(nodes: N | undefined, examination: Examination): Promise<Finding[]>;

  /** @param nodes from `connect` */
  open(nodes: N, settings: ChainSettings, options: ChainOptions): SourceChain;
}

import type { PaymentPayload } from "@x402/core/types";
import { SOURCE_CHAINS } from "../../chains/registry.ts";
import type { OwnTables } from "../../config/own-tables.ts";
import { ALGORAND_RAIL } from "./algorand/rail-kind.ts";
import { BASE_RAIL } from "./base/rail-kind.ts";
import type { Payment, Rail, RailName } from "./rail.ts";
import type { RailContext, RailKind } from "./rail-kind.ts";
import { SOLANA_RAIL } from "./solana/rail-kind.ts";

/** Every rail, in the order of its listing in documents. A new rail is a folder and a line here. */
export const RAILS: readonly RailKind[] = [ALGORAND_RAIL, BASE_RAIL, SOLANA_RAIL];

/** The tables of settings of every rail and of every chain with nodes of its own, for `readConfig`. */
export function ownTables(): OwnTables {
  const rails = RAILS.map(({ settings }) => settings);
  const tables = [...SOURCE_CHAINS.map(({ settings }) => settings), ...rails.map(({ chain }) => chain)];
  return { rails, chains: [...new Set(tables)].filter((table) => table !== undefined) };
}

/**
 * Opens rails, enabled or not: a payment from before its rail was disabled is still looked up.
 * @param nodesOf the clients that a rail's `connect` made
 */
export function openRails(nodesOf: (kind: RailKind) => object, context: RailContext): Promise<Rail[]> {
  return Promise.all(RAILS.map(async (kind) => readingOnce(await kind.open(nodesOf(kind), context))));
}

/** Reads each payload once, however many steps of its call need it: nothing changes a payload, or what was read of it. */
function readingOnce(rail: Rail): Rail {
  const known = new WeakMap<PaymentPayload, Payment>();
  return { ...rail, read: (payload) => known.getOrInsertComputed(payload, () => rail.read(payload)) };
}

/** Returns a rail by its name in the registry. @throws Error when there is none */
export function railKind(name: RailName): RailKind {
  const kind = RAILS.find((candidate) => candidate.name === name);
  if (!kind) throw new Error(`there is no rail ${name}`);
  return kind;
}

import type { Json } from "../json.ts";
import { CONSENSUS, type ConsensusName } from "./consensus.ts";

/** The allowed values of behaviours that are texts. */
const CHOICES = {
  consensus: Object.keys(CONSENSUS) as ConsensusName[],
  catchup: ["none", "blocks", "catchpoint"],
  submit: ["accepted", "queue-full", "pool-full", "no-evaluator", "shutdown"],
  indexerParameters: ["all", "default"],
} as const;
type Choice<Name extends keyof typeof CHOICES> = (typeof CHOICES)[Name][number];

/** A healthy, up-to-date node and indexer: the sandbox's initial behaviour. */
export const USUAL = {
  /** The consensus version of the network's next blocks. */
  consensus: "v42" as Choice<"consensus">,
  /**
   * `ct` of the next blocks' headers since v42, in millionths: what results from blocks that were more than half full.
   */
  congestionTax: 0,
  /** How many rounds the node is behind the network. Balances are always those of the latest round. */
  behind: 0,
  /** How many of the latest rounds the node keeps; 0 is an archival node. */
  keptRounds: 0,
  /** `blocks`: the node fetches blocks that it missed. `catchpoint`: it fetches a whole state, and does little else. */
  catchup: "none" as Choice<"catchup">,
  /** Whether the node runs in follower mode, like conduit's: it submits nothing and finds nothing by id. */
  follower: false,
  /** microAlgos per byte of a transaction that a congested pool demands; 0 without congestion. */
  feePerByte: 0,
  /** What happens to a submission. With `queue-full` the pool has the transactions although the answer is an error. */
  submit: "accepted" as Choice<"submit">,
  /** Whether a proxy before the node answers 502 because the node is away. */
  algodAway: false,
  indexerAway: false,
  /** How many rounds the indexer is behind the network. */
  indexerBehind: 0,
  /**
   * `default`: searches accept only the parameters that an indexer on PostgreSQL accepts unless its operator allows
   * more.
   */
  indexerParameters: "all" as Choice<"indexerParameters">,
};

/**
 * What a test or a person can make the sandbox's node and indexer do, as real ones sometimes do. The ledger itself, and
 * the node for others (`networkUrl`), do not change.
 */
export type Behaviour = typeof USUAL;

const MAX_NUMBER = 1_000_000_000;

/** The error for an unknown behaviour or value. */
export class BehaviourError extends Error {
  override readonly name = "BehaviourError";
}

/**
 * Checks changes of a behaviour, such as those of a JSON body.
 * @throws BehaviourError
 */
export function behaviourChanges(value: Json): Partial<Behaviour> {
  if (value === null || typeof value !== "object" || Array.isArray(value))
    throw new BehaviourError("a behaviour is an object of names and values");
  for (const [name, member] of Object.entries(value)) checkMember(name, member);
  return value as Partial<Behaviour>;
}

function checkMember(name: string, value: Json | undefined): void {
  if (!Object.hasOwn(USUAL, name))
    throw new BehaviourError(`there is no behaviour ${name}; there are ${Object.keys(USUAL).join(", ")}`);
  const choices: readonly string[] | undefined = CHOICES[name as keyof typeof CHOICES];
  if (choices !== undefined) {
    if (!choices.includes(String(value))) throw new BehaviourError(`${name} is one of ${choices.join(", ")}`);
  } else if (typeof USUAL[name as keyof Behaviour] === "boolean") {
    if (typeof value !== "boolean") throw new BehaviourError(`${name} is true or false`);
  } else if (typeof value !== "number" || !Number.isInteger(value) || value < 0 || value > MAX_NUMBER)
    throw new BehaviourError(`${name} is a whole number from 0 to ${MAX_NUMBER}`);
}

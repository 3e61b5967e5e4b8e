import type { Json } from "../json.ts";
import { CONSENSUS, type ConsensusName } from "./consensus.ts";

/** What the behaviours that are texts may be. */
const CHOICES = {
  consensus: Object.keys(CONSENSUS) as ConsensusName[],
  catchup: ["none", "blocks", "catchpoint"],
  submit: ["accepted", "queue-full", "pool-full", "no-evaluator", "shutdown"],
  indexerParameters: ["all", "default"],
} as const;
type Choice<Name extends keyof typeof CHOICES> = (typeof CHOICES)[Name][number];

/** A node and an indexer that are well and up to date, as the sandbox begins. */
export const USUAL = {
  /** The consensus version of the network's next blocks. */
  consensus: "v42" as Choice<"consensus">,
  /** `ct` of the next blocks' headers since v42, in millionths: what blocks that were more than half full leave behind. */
  congestionTax: 0,
  /** Rounds by which the node is behind the network. Balances are always those of the latest round. */
  behind: 0,
  /** Latest rounds that the node keeps; 0 is an archival node. */
  keptRounds: 0,
  /** `blocks`: the node fetches blocks that it missed. `catchpoint`: it fetches a whole state, and does little else. */
  catchup: "none" as Choice<"catchup">,
  /** Whether the node runs in follower mode, as conduit's does: it submits nothing and finds nothing by id. */
  follower: false,
  /** microAlgos for each byte of a transaction that a congested pool asks for; 0 is a pool without load. */
  feePerByte: 0,
  /** What becomes of a submission. After `queue-full` the pool has the transactions although the answer is an error. */
  submit: "accepted" as Choice<"submit">,
  /** Whether a proxy before the node answers 502 because the node is away. */
  algodAway: false,
  indexerAway: false,
  /** Rounds by which the indexer is behind the network. */
  indexerBehind: 0,
  /** `default`: searches take only the parameters that an indexer on PostgreSQL takes unless its operator allows more. */
  indexerParameters: "all" as Choice<"indexerParameters">,
};

/**
 * What a test or a person can make the sandbox's node and indexer do, as real ones do at times. The ledger itself and the
 * node of the others (`networkUrl`) stay as they are.
 */
export type Behaviour = typeof USUAL;

const MAX_NUMBER = 1_000_000_000;

/** A named behaviour that does not exist, or a value that it does not have. */
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

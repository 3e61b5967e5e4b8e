import type { Json } from "../json.ts";
import { CONSENSUS, type ConsensusName } from "./consensus.ts";

/**
 * What a test or a person can make the sandbox's node and indexer do, as real ones do at times. The ledger itself and the
 * node of the others (`networkUrl`) stay as they are.
 */
export interface Behaviour {
  /** The consensus version of the network's next blocks. */
  consensus: ConsensusName;
  /** `ct` of the next blocks' headers since v42, in millionths: what blocks that were more than half full leave behind. */
  congestionTax: number;
  /** Rounds by which the node is behind the network. Balances are always those of the latest round. */
  behind: number;
  /** Latest rounds that the node keeps; 0 is an archival node. */
  keptRounds: number;
  /** `blocks`: the node fetches blocks that it missed. `catchpoint`: it fetches a whole state, and does little else. */
  catchup: "none" | "blocks" | "catchpoint";
  /** Whether the node runs in follower mode, as conduit's does: it submits nothing and finds nothing by id. */
  follower: boolean;
  /** microAlgos for each byte of a transaction that a congested pool asks for; 0 is a pool without load. */
  feePerByte: number;
  /** What becomes of a submission. After `queue-full` the pool has the transactions although the answer is an error. */
  submit: "accepted" | "queue-full" | "pool-full" | "no-evaluator" | "shutdown";
  /** Whether a proxy before the node answers 502 because the node is away. */
  algodAway: boolean;
  indexerAway: boolean;
  /** Rounds by which the indexer is behind the network. */
  indexerBehind: number;
  /** `default`: searches take only the parameters that an indexer on PostgreSQL takes unless its operator allows more. */
  indexerParameters: "all" | "default";
}

/** A node and an indexer that are well and up to date, as the sandbox begins. */
export const USUAL: Readonly<Behaviour> = {
  consensus: "v42",
  congestionTax: 0,
  behind: 0,
  keptRounds: 0,
  catchup: "none",
  follower: false,
  feePerByte: 0,
  submit: "accepted",
  algodAway: false,
  indexerAway: false,
  indexerBehind: 0,
  indexerParameters: "all",
};

const CHOICES: { [name in keyof Behaviour]?: readonly string[] } = {
  consensus: Object.keys(CONSENSUS),
  catchup: ["none", "blocks", "catchpoint"],
  submit: ["accepted", "queue-full", "pool-full", "no-evaluator", "shutdown"],
  indexerParameters: ["all", "default"],
};

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

/**
 * Parses `name=value`, as on a command line.
 * @throws BehaviourError
 */
export function parseBehaviour(text: string): Partial<Behaviour> {
  const [name = "", value = ""] = text.split("=", 2);
  const isNumber = /^\d{1,9}$/.test(value);
  const isFlag = value === "true" || value === "false";
  return behaviourChanges({ [name]: isNumber ? Number(value) : isFlag ? value === "true" : value });
}

function checkMember(name: string, value: Json | undefined): void {
  if (!Object.hasOwn(USUAL, name))
    throw new BehaviourError(`there is no behaviour ${name}; there are ${Object.keys(USUAL).join(", ")}`);
  const choices = CHOICES[name as keyof Behaviour];
  if (choices !== undefined) {
    if (!choices.includes(String(value))) throw new BehaviourError(`${name} is one of ${choices.join(", ")}`);
  } else if (typeof USUAL[name as keyof Behaviour] === "boolean") {
    if (typeof value !== "boolean") throw new BehaviourError(`${name} is true or false`);
  } else if (typeof value !== "number" || !Number.isInteger(value) || value < 0 || value > MAX_NUMBER)
    throw new BehaviourError(`${name} is a whole number from 0 to ${MAX_NUMBER}`);
}

import { matchTransactionId } from "@attestd/proof";
import { EXPECTED_ID } from "../catalogue/sources.ts";
import type { ChainName } from "../chains/chain.ts";
import { ServiceError } from "../errors.ts";
import type { Subject } from "./subject.ts";

/** @param member the one at fault @param message what is wrong with it, as a clause without a subject */
export function unfit(member: string, message: string): ServiceError {
  return new ServiceError("request_unfit", message, { details: { member } });
}

type Configured = ReadonlyMap<ChainName, unknown>;

/**
 * Normalises an attest request: the chain is inferred from the form of the id where it is not given.
 *
 * @param configured the chains whose transactions are attested here
 * @throws request_unfit when the id is of no chain's form, of another chain's than the one named, or of one not
 *   configured
 */
export function attestSubject(
  { txid, chain }: { txid: string; chain?: ChainName | undefined },
  configured: Configured,
): Subject {
  const { name, id } = readId("txid", txid);
  if (chain !== undefined && chain !== name)
    throw unfit("chain", `is ${chain}, but txid is a transaction id of ${name}`);
  if (!configured.has(name)) throw unfit("txid", `is of ${name}, which is not attested here`);
  return { kind: "transaction", chain: name, id };
}

/**
 * Normalises a request to attest a block.
 *
 * @throws request_unfit when the chain is not configured
 */
export function blockSubject({ chain, height }: { chain: ChainName; height: number }, configured: Configured): Subject {
  requireConfigured(chain, configured);
  return { kind: "block", chain, height };
}

/**
 * Normalises a request to prove a transaction's inclusion.
 *
 * @throws request_unfit when the chain is not configured, or the id is of no chain's form or of another chain's
 */
export function inclusionSubject(
  { chain, txId, height }: { chain: ChainName; txId: string; height: number },
  configured: Configured,
): Subject {
  requireConfigured(chain, configured);
  const { name, id } = readId("txId", txId);
  if (name !== chain) throw unfit("txId", `is a transaction id of ${name}, but chain is ${chain}`);
  return { kind: "inclusion", chain, id, height };
}

function readId(member: string, text: string): { name: ChainName; id: string } {
  const match = matchTransactionId(text);
  if (!match) throw unfit(member, EXPECTED_ID);
  return { name: match.chain.name, id: match.id };
}

function requireConfigured(chain: ChainName, configured: Configured): void {
  if (!configured.has(chain)) throw unfit("chain", `is ${chain}, which is not attested here`);
}

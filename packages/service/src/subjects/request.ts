import { matchTransactionId } from "@attestd/proof";
import { EXPECTED_ID } from "../catalogue/sources.ts";
import type { ChainName } from "../chains/chain.ts";
import type { Subject } from "./subject.ts";

/** A request whose members are well formed but do not go together. */
export class UnfitRequest extends Error {
  /** The member at fault. */
  readonly member: string;

  constructor(member: string, message: string) {
    super(message);
    this.name = "UnfitRequest";
    this.member = member;
  }
}

type Configured = ReadonlyMap<ChainName, unknown>;

/**
 * Normalises an attest request: the chain is inferred from the form of the id where it is not given.
 *
 * @param configured the chains whose transactions are attested here
 * @throws UnfitRequest when the id is of no chain's form, of another chain's than the one named, or of one not configured
 */
export function attestSubject(
  { txid, chain }: { txid: string; chain?: ChainName | undefined },
  configured: Configured,
): Subject {
  const { name, id } = readId("txid", txid);
  if (chain !== undefined && chain !== name)
    throw new UnfitRequest("chain", `is ${chain}, but txid is a transaction id of ${name}`);
  if (!configured.has(name)) throw new UnfitRequest("txid", `is of ${name}, which is not attested here`);
  return { kind: "transaction", chain: name, id };
}

/**
 * Normalises a request to attest a block.
 *
 * @throws UnfitRequest when the chain is not configured
 */
export function blockSubject({ chain, height }: { chain: ChainName; height: number }, configured: Configured): Subject {
  requireConfigured(chain, configured);
  return { kind: "block", chain, height };
}

/**
 * Normalises a request to prove a transaction's inclusion.
 *
 * @throws UnfitRequest when the chain is not configured, or the id is of no chain's form or of another chain's
 */
export function inclusionSubject(
  { chain, txId, height }: { chain: ChainName; txId: string; height: number },
  configured: Configured,
): Subject {
  requireConfigured(chain, configured);
  const { name, id } = readId("txId", txId);
  if (name !== chain) throw new UnfitRequest("txId", `is a transaction id of ${name}, but chain is ${chain}`);
  return { kind: "inclusion", chain, id, height };
}

function readId(member: string, text: string): { name: ChainName; id: string } {
  const match = matchTransactionId(text);
  if (!match) throw new UnfitRequest(member, EXPECTED_ID);
  return { name: match.chain.name, id: match.id };
}

function requireConfigured(chain: ChainName, configured: Configured): void {
  if (!configured.has(chain)) throw new UnfitRequest("chain", `is ${chain}, which is not attested here`);
}

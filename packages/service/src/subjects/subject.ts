import { createHash } from "node:crypto";
import { matchTransactionId } from "@attestd/proof";
import { canonicalBytes } from "@attestd/proof/json";
import { EXPECTED_ID } from "../catalogue/sources.ts";
import type { ChainName } from "../chains/chain.ts";
import { ServiceError } from "../errors.ts";

type Outcome = "succeeded";

/** The subject of a paid call, normalised: the chain inferred, ids in their one spelling, heights as integers. */
export type Subject =
  /** `require`: the outcome without which the caller does not buy; absent where any will do. */
  | { kind: "transaction"; chain: ChainName; id: string; require?: Outcome }
  | { kind: "block"; chain: ChainName; height: number }
  | { kind: "inclusion"; chain: ChainName; id: string; height: number };

export type SubjectOf<K extends Subject["kind"]> = Extract<Subject, { kind: K }>;

/**
 * The identity of a subject, to which a payment is bound. It leaves out route, transport, price and spelling, so that one
 * payment is for one subject over every transport; and the outcome that was required, which decides whether it is sold.
 * @returns SHA-256 of the RFC 8785 JSON of the subject, hex
 */
export function requestHash(subject: Subject): string {
  const { require: _, ...sold } = subject as Subject & { require?: Outcome };
  return createHash("sha256").update(canonicalBytes(sold)).digest("hex");
}

/** @param member the one at fault @param message what is wrong with it, as a clause without a subject */
export function unfit(member: string, message: string): ServiceError {
  return new ServiceError("request_unfit", message, { details: { member } });
}

/** The chains whose transactions and blocks are attested here, by name. */
type Configured = ReadonlyMap<ChainName, unknown>;

/**
 * The subject of a request to attest a transaction. The form of the id names the chain where the request does not.
 *
 * @throws request_unfit when the id has the form of no chain, of another than `chain`, or of one that is not
 *   configured
 */
export function attestSubject(
  { txid, chain, require }: { txid: string; chain?: ChainName | undefined; require?: Outcome | undefined },
  configured: Configured,
): Subject {
  const { name, id } = readId("txid", txid);
  if (chain !== undefined && chain !== name)
    throw unfit("chain", `is ${chain}, but txid is a transaction id of ${name}`);
  if (!configured.has(name)) throw unfit("txid", `is of ${name}, which is not attested here`);
  return { kind: "transaction", chain: name, id, ...(require && { require }) };
}

/** The subject of a request to attest a block. @throws request_unfit when the chain is not configured */
export function blockSubject({ chain, height }: { chain: ChainName; height: number }, configured: Configured): Subject {
  requireConfigured(chain, configured);
  return { kind: "block", chain, height };
}

/**
 * The subject of a request to prove that a transaction is in a block.
 *
 * @throws request_unfit when the chain is not configured, or the id has not the form of its ids
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

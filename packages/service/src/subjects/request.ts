import type { ChainName, SourceChain } from "../chains/chain.ts";
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

/** How a chain spells its transaction ids; known of every chain, configured or not. */
export type TransactionIdForm = Pick<SourceChain, "name" | "isTransactionId" | "normalizeTransactionId">;

/**
 * Normalises an attest request: the chain is inferred from the form of the id where it is not given.
 *
 * @param configured the chains whose transactions are attested here
 * @throws UnfitRequest when the id is of no chain's form, of another chain's than the one named, or of one not configured
 */
export function attestSubject(
  { txid, chain }: { txid: string; chain?: ChainName | undefined },
  forms: readonly TransactionIdForm[],
  configured: ReadonlyMap<ChainName, unknown>,
): Subject {
  const form = forms.find((candidate) => candidate.isTransactionId(txid));
  if (!form)
    throw new UnfitRequest("txid", "is not a transaction id: 52 base32 characters (Algorand) or 0x and 64 hex (Base)");
  if (chain !== undefined && chain !== form.name)
    throw new UnfitRequest("chain", `is ${chain}, but txid is a transaction id of ${form.name}`);
  if (!configured.has(form.name)) throw new UnfitRequest("txid", `is of ${form.name}, which is not attested here`);
  return { kind: "transaction", chain: form.name, id: form.normalizeTransactionId(txid) };
}

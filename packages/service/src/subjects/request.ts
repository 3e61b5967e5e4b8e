import { isAlgorandTxId } from "@attestd/proof/algorand/transaction";
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

/** How each chain spells its transaction ids; a Base hash may come in either case and is kept in the lower. */
const FORMS: readonly { chain: ChainName; matches: (id: string) => boolean; normalize: (id: string) => string }[] = [
  { chain: "algorand", matches: isAlgorandTxId, normalize: (id) => id },
  { chain: "base", matches: (id) => /^0x[0-9a-fA-F]{64}$/.test(id), normalize: (id) => id.toLowerCase() },
];

/**
 * Normalises an attest request: the chain is inferred from the form of the id where it is not given.
 *
 * @param configured the chains whose transactions are attested here
 * @throws UnfitRequest when the id is of no chain's form, of another chain's than the one named, or of one not configured
 */
export function attestSubject(
  { txid, chain }: { txid: string; chain?: ChainName | undefined },
  configured: ReadonlyMap<ChainName, unknown>,
): Subject {
  const form = FORMS.find(({ matches }) => matches(txid));
  if (!form)
    throw new UnfitRequest("txid", "is not a transaction id: 52 base32 characters (Algorand) or 0x and 64 hex (Base)");
  if (chain !== undefined && chain !== form.chain)
    throw new UnfitRequest("chain", `is ${chain}, but txid is a transaction id of ${form.chain}`);
  if (!configured.has(form.chain)) throw new UnfitRequest("txid", `is of ${form.chain}, which is not attested here`);
  return { kind: "transaction", chain: form.chain, id: form.normalize(txid) };
}

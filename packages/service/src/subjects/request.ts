import { isAlgorandTxId } from "@attestd/proof/algorand";
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

const EXPECTED_ID = "is not a transaction id: 52 base32 characters (Algorand) or 0x and 64 hex (Base)";

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
  if (!form) throw new UnfitRequest("txid", EXPECTED_ID);
  if (chain !== undefined && chain !== form.chain)
    throw new UnfitRequest("chain", `is ${chain}, but txid is a transaction id of ${form.chain}`);
  if (!configured.has(form.chain)) throw new UnfitRequest("txid", `is of ${form.chain}, which is not attested here`);
  return { kind: "transaction", chain: form.chain, id: form.normalize(txid) };
}

/**
 * Normalises a request to attest a block.
 *
 * @throws UnfitRequest when the chain is not configured
 */
export function blockSubject(
  { chain, height }: { chain: ChainName; height: number },
  configured: ReadonlyMap<ChainName, unknown>,
): Subject {
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
  configured: ReadonlyMap<ChainName, unknown>,
): Subject {
  requireConfigured(chain, configured);
  const form = FORMS.find(({ matches }) => matches(txId));
  if (!form) throw new UnfitRequest("txId", EXPECTED_ID);
  if (form.chain !== chain)
    throw new UnfitRequest("txId", `is a transaction id of ${form.chain}, but chain is ${chain}`);
  return { kind: "inclusion", chain, id: form.normalize(txId), height };
}

function requireConfigured(chain: ChainName, configured: ReadonlyMap<ChainName, unknown>): void {
  if (!configured.has(chain)) throw new UnfitRequest("chain", `is ${chain}, which is not attested here`);
}

import type { MsgpackMap } from "@attestd/proof/algorand/msgpack";
import { encodeAddress } from "@attestd/proof/algorand/transaction";
import { toBase64 } from "@attestd/proof/encoding";
import { z } from "zod";
import type { Location } from "../../../providers/algorand-nodes.ts";
import type { IndexedTransaction } from "../../../providers/indexer.ts";
import { unavailable } from "../../../providers/provider.ts";
import { PaymentRefused } from "../rail.ts";
import { type Envelope, readEnvelope } from "./envelope.ts";

/** Who has signed: the address that did, and where a program did, the program with its arguments. */
type Signer = { authorizer: string; logic?: { program: string; args: readonly string[] } };

/** What an indexer says of how a transaction was signed; base64. */
const Signed = z.object({
  sender: z.string(),
  "auth-addr": z.string().optional(),
  signature: z.object({
    logicsig: z.object({ logic: z.string(), args: z.array(z.string()).nullish() }).nullish(),
  }),
});

/**
 * Whether the ledger has taken the transaction from this very signer. A program's arguments are part of it: no key
 * vouches for them.
 *
 * @param envelope one whose signature fits its own authorizer
 * @throws ProviderError when what the node gave tells of no signature
 */
export function hasSigned(envelope: Envelope, landed: Location): boolean {
  return JSON.stringify(signerOf(envelope)) === JSON.stringify(signerOfLanded(landed));
}

function signerOf(envelope: Envelope): Signer {
  const authorizer = encodeAddress(envelope.authorizer);
  if (envelope.kind !== "lsig") return { authorizer };
  const { program, args } = envelope.logic;
  return { authorizer, logic: { program: toBase64(program), args: args.map(toBase64) } };
}

function signerOfLanded({ round, signed, record }: Location): Signer | undefined {
  try {
    if (signed) return signerOf(readLanded(signed));
    if (record) return signerOfRecord(record);
  } catch (error) {
    // One that we would not take, by a post-quantum key say, is not this one.
    if (error instanceof PaymentRefused) return undefined;
    throw error;
  }
  throw unavailable(`no node tells how the transaction in round ${round} was signed`);
}

function readLanded(signed: MsgpackMap): Envelope {
  const { txn, ...members } = Object.fromEntries(signed);
  const sender = txn instanceof Map ? txn.get("snd") : undefined;
  if (!(sender instanceof Uint8Array)) throw unavailable("a node tells of a transaction without a sender");
  return readEnvelope(new Map(Object.entries(members)), sender);
}

function signerOfRecord(record: IndexedTransaction): Signer {
  const read = Signed.safeParse(record);
  if (!read.success) throw unavailable("an indexer does not tell how a transaction was signed", read.error);
  const { sender, "auth-addr": authorizer = sender, signature } = read.data;
  if (!signature.logicsig) return { authorizer };
  const { logic: program, args } = signature.logicsig;
  return { authorizer, logic: { program, args: args ?? [] } };
}

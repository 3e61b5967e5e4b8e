import { encodeAddress, type MsgpackMap } from "@attestd/proof/algorand";
import { toBase64 } from "@attestd/proof/encoding";
import { z } from "zod";
import { hasCode } from "../../../lib/errors.ts";
import type { Location } from "../../../providers/algorand-nodes.ts";
import type { IndexedTransaction } from "../../../providers/indexer.ts";
import { unavailable } from "../../../providers/provider.ts";
import { type Envelope, readEnvelope } from "./envelope.ts";

/** The address that signed; for a program, also the program and its arguments. */
type Signer = { authorizer: string; logic?: { program: string; args: readonly string[] } };

/** An indexer's record of a signature; bytes in base64. */
const Signed = z.object({
  sender: z.string(),
  "auth-addr": z.string().optional(),
  signature: z.object({
    logicsig: z.object({ logic: z.string(), args: z.array(z.string()).nullish() }).nullish(),
  }),
});

/**
 * Whether the ledger accepted the transaction from the same signer. A program's arguments count too, because no key
 * signs them.
 * @param envelope its signature must be its own authorizer's
 * @throws ProviderError when the node's answer has no signature
 */
export function hasSigned(envelope: Envelope, landed: Location): boolean {
  return JSON.stringify(signerOf(envelope)) === signerFact(landed);
}

/** Describes who signed a confirmed transaction, so that nodes can agree on it: its id does not cover its signature. */
export function signerFact(landed: Location): string | undefined {
  return JSON.stringify(signerOfLanded(landed));
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
    // A signature that we refuse, for example by a post-quantum key, is another signer's.
    if (hasCode(error, "payment_refused")) return undefined;
    throw error;
  }
  throw unavailable(`no node shows the signature of the transaction in round ${round}`);
}

function readLanded(signed: MsgpackMap): Envelope {
  const { txn, ...members } = Object.fromEntries(signed);
  const sender = txn instanceof Map ? txn.get("snd") : undefined;
  if (!(sender instanceof Uint8Array)) throw unavailable("a node shows a transaction without a sender");
  return readEnvelope(new Map(Object.entries(members)), sender);
}

function signerOfRecord(record: IndexedTransaction): Signer {
  const read = Signed.safeParse(record);
  if (!read.success) throw unavailable("an indexer does not show how a transaction was signed", read.error);
  const { sender, "auth-addr": authorizer = sender, signature } = read.data;
  if (!signature.logicsig) return { authorizer };
  const { logic: program, args } = signature.logicsig;
  return { authorizer, logic: { program, args: args ?? [] } };
}

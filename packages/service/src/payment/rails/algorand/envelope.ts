import { isProofError } from "@attestd/proof";
import { getBytes, getInteger, type MsgpackMap, type MsgpackValue } from "@attestd/proof/algorand";
import { equalBytes } from "@attestd/proof/encoding";
import { malformed } from "@attestd/proof/errors";
import { paymentRefused } from "../rail.ts";

/** A multisignature (go-algorand, `crypto.MultisigSig`). */
export type Multisig = {
  /** The number of required signatures. */
  threshold: number;
  /**
   * Public keys of 32 bytes in the order that makes the address, each with a signature of 64 bytes if it has signed.
   */
  parts: readonly { publicKey: Uint8Array; signature?: Uint8Array }[];
};

/** A program that signs (go-algorand, `transactions.LogicSig`). */
export type LogicSig = {
  program: Uint8Array;
  args: readonly Uint8Array[];
  /**
   * The account's consent that the program signs for it; absent when the program's own account pays. `lmsig` also
   * covers the account.
   */
  delegation?: { kind: "sig"; signature: Uint8Array } | { kind: "msig" | "lmsig"; multisig: Multisig };
};

/** How a payer signed: the claimed signer and the signature. */
export type Envelope = {
  /** 32 bytes: the sender's public key, or `sgnr`, the address to which the sender is supposedly rekeyed. */
  authorizer: Uint8Array;
} & ({ kind: "sig"; signature: Uint8Array } | { kind: "msig"; multisig: Multisig } | { kind: "lsig"; logic: LogicSig });

/** Consensus parameters `maxMultisig`, `EvalMaxArgs`, and `LogicSigMaxSize`, which the members of a group pool. */
const MAX_KEYS = 255;
const MAX_ARGUMENTS = 255;
const MAX_PROGRAM_BYTES = 2 * 1000;

const POST_QUANTUM =
  "the payment transaction is signed by a post-quantum key (pqsig), which no facilitator settles: pay from an account whose key is ed25519, a multisig or a logicsig";

/**
 * Reads the members besides `txn` in a signed transaction: one signature, and `sgnr` when the account is rekeyed. An
 * empty or unknown member is refused, because a node may read the transaction as unsigned without it.
 * @param members canonical msgpack
 * @param sender 32 bytes
 * @throws payment_refused naming the member that is missing, unknown or malformed
 */
export function readEnvelope(members: MsgpackMap, sender: Uint8Array): Envelope {
  if (members.has("pqsig")) throw paymentRefused(POST_QUANTUM);
  const kinds = (["sig", "msig", "lsig"] as const).filter((kind) => members.has(kind));
  const [kind] = kinds;
  if (kind === undefined) throw paymentRefused("the payment transaction has no signature: no sig, msig or lsig");
  if (kinds.length > 1) throw paymentRefused(`the payment transaction has more than one of ${kinds.join(", ")}`);
  for (const member of members.keys())
    if (member !== kind && member !== "sgnr")
      throw paymentRefused(`the payment transaction has the member ${String(member)} in addition to its signature`);

  const authorizer = members.has("sgnr") ? readMember(members, "sgnr", (value) => bytesOf(value, 32)) : sender;
  if (members.has("sgnr") && equalBytes(authorizer, sender))
    throw paymentRefused("the payment transaction's sgnr is its sender: leave it out");
  switch (kind) {
    case "sig":
      return { authorizer, kind, signature: readMember(members, kind, (value) => bytesOf(value, 64)) };
    case "msig":
      return { authorizer, kind, multisig: readMember(members, kind, readMultisig) };
    case "lsig":
      return { authorizer, kind, logic: readMember(members, kind, readLogicSig) };
  }
}

/** @param name of a present member */
function readMember<T>(members: MsgpackMap, name: string, read: (value: MsgpackValue) => T): T {
  try {
    return read(members.get(name) as MsgpackValue);
  } catch (error) {
    if (isProofError(error, "malformed"))
      throw paymentRefused(`the payment transaction's ${name} has the wrong form: ${error.message}`);
    throw error;
  }
}

/** Reads bytes of a fixed length. All zeros are an error: canonical msgpack omits them. */
function bytesOf(value: MsgpackValue | undefined, length: number): Uint8Array {
  if (!(value instanceof Uint8Array) || value.length !== length) throw malformed(`not ${length} bytes`);
  if (value.every((byte) => byte === 0)) throw malformed(`${length} bytes of zero`);
  return value;
}

function readMultisig(value: MsgpackValue): Multisig {
  const map = structOf(value, ["subsig", "thr", "v"]);
  if (getInteger(map, "v") !== 1n) throw malformed("v is not 1");
  const subsigs = map.get("subsig");
  if (!Array.isArray(subsigs) || subsigs.length === 0 || subsigs.length > MAX_KEYS)
    throw malformed(`subsig is not a list of 1 to ${MAX_KEYS} keys`);
  const threshold = Number(getInteger(map, "thr"));
  if (threshold < 1 || threshold > subsigs.length) throw malformed("thr is not between 1 and the number of keys");
  return { threshold, parts: subsigs.map(readPart) };
}

function readPart(value: MsgpackValue): Multisig["parts"][number] {
  const part = structOf(value, ["pk", "s"]);
  const publicKey = bytesOf(part.get("pk"), 32);
  return part.has("s") ? { publicKey, signature: bytesOf(part.get("s"), 64) } : { publicKey };
}

function readLogicSig(value: MsgpackValue): LogicSig {
  if (value instanceof Map && value.has("pqsig")) throw paymentRefused(POST_QUANTUM);
  const map = structOf(value, ["arg", "l", "lmsig", "msig", "sig"]);
  const program = getBytes(map, "l") ?? new Uint8Array();
  const args = map.get("arg") ?? [];
  if (!Array.isArray(args) || args.length > MAX_ARGUMENTS || !args.every((arg) => arg instanceof Uint8Array))
    throw malformed(`arg is not a list of at most ${MAX_ARGUMENTS} byte strings`);
  if (map.has("arg") && args.length === 0) throw malformed("arg is empty");
  const size = args.reduce((sum, arg) => sum + arg.length, program.length);
  if (program.length === 0 || size > MAX_PROGRAM_BYTES)
    throw malformed(`l and arg are not 1 to ${MAX_PROGRAM_BYTES} bytes`);
  const [kind, ...others] = (["sig", "msig", "lmsig"] as const).filter((name) => map.has(name));
  if (others.length > 0) throw malformed("more than one of sig, msig, lmsig");
  if (kind === undefined) return { program, args };
  if (kind === "sig") return { program, args, delegation: { kind, signature: bytesOf(map.get(kind), 64) } };
  return { program, args, delegation: { kind, multisig: readMultisig(map.get(kind) as MsgpackValue) } };
}

function structOf(value: MsgpackValue, members: readonly string[]): MsgpackMap {
  if (!(value instanceof Map)) throw malformed("not a map");
  for (const member of value.keys())
    if (typeof member !== "string" || !members.includes(member)) throw malformed(`it has the member ${String(member)}`);
  return value;
}

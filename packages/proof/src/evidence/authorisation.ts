import { verifyEd25519 } from "../algorand/ed25519.ts";
import { FALCON_SCHEME, falconAccount, verifyFalcon } from "../algorand/falcon.ts";
import {
  decodeAddress,
  decodeCanonicalMap,
  encodeAddress,
  getBytes,
  getInteger,
  getMap,
  type MsgpackMap,
  signedMessage,
} from "../algorand/index.ts";
import { compare, type Finding } from "../chain-format.ts";
import { equalBytes, fromBase64, utf8 } from "../encoding.ts";
import { attempt, malformed } from "../errors.ts";
import type { AlgorandAuthorisationItem, AlgorandInclusionItem, AuthorisationAlgorithm } from "./form.ts";

/*
 * The signature of an attestation transaction, from the block's entry for it. Source: go-algorand,
 * `data/transactions/signedtxn.go`, `data/transactions/pqsig.go`.
 */

/** The signature data of a block's entry. */
type Authorisation = {
  alg: AuthorisationAlgorithm;
  /** The account that the entry names in place of the sender, 32 bytes. */
  authorizer: Uint8Array | undefined;
  isBy(account: Uint8Array, message: Uint8Array): boolean;
};

const SIGNATURES = ["sig", "msig", "lsig", "pqsig"];
const PQ_MEMBERS = ["sch", "slt", "pk", "sig"];
const SENDER = "the sender";

/**
 * Makes the authorisation item of an inclusion; undefined if its entry is not signed by a single Ed25519 or Falcon-1024
 * key.
 */
export function authorisationItem({ stibBase64 }: AlgorandInclusionItem): AlgorandAuthorisationItem | undefined {
  const found = attempt("malformed", () => readAuthorisation(fromBase64(stibBase64)));
  if (found === undefined) return undefined;
  const { alg, authorizer } = found;
  return { type: "algorand-authorisation/1", alg, ...(authorizer && { authorizer: encodeAddress(authorizer) }) };
}

/**
 * Checks that a transaction was signed as the item says. It takes the block's word that the sender was rekeyed to an
 * authorizer.
 * @param inclusion checked before, without faults
 * @param sender of its transaction, an address
 */
export function checkAuthorisationItem(
  item: AlgorandAuthorisationItem,
  { txnBytesBase64, stibBase64 }: AlgorandInclusionItem,
  sender: string,
  pointer: string,
): Finding[] {
  const found = attempt("malformed", () => readAuthorisation(fromBase64(stibBase64)));
  if (found === undefined) return [{ pointer, message: "has no signature of one key in the block's entry" }];
  const { alg, authorizer, isBy } = found;
  const message = signedMessage(fromBase64(txnBytesBase64));
  return [
    ...compare(`${pointer}/alg`, item.alg, alg),
    ...compare(`${pointer}/authorizer`, item.authorizer ?? SENDER, authorizer ? encodeAddress(authorizer) : SENDER),
    ...(isBy(authorizer ?? decodeAddress(sender), message)
      ? []
      : [{ pointer, message: "has a signature that is not the account's" }]),
  ];
}

/** @throws ProofError `malformed` */
function readAuthorisation(stib: Uint8Array): Authorisation {
  const map = decodeCanonicalMap(stib);
  const [kind, ...more] = SIGNATURES.filter((name) => map.has(name));
  const authorizer = getBytes(map, "sgnr", 32);
  const signature = getBytes(map, "sig", 64);
  const pq = getMap(map, "pqsig");
  if (kind === undefined || more.length > 0) throw malformed("entry does not have exactly one signature");
  if (signature)
    return { alg: "ed25519", authorizer, isBy: (account, message) => verifyEd25519(account, message, signature) };
  if (pq) return { alg: "falcon-1024", authorizer, isBy: (account, message) => isFalcon(pq, message, account) };
  throw malformed("entry has a signature of another kind");
}

function isFalcon(pq: MsgpackMap, message: Uint8Array, account: Uint8Array): boolean {
  return (
    attempt("malformed", () => {
      const [scheme, publicKey, signature] = [getBytes(pq, "sch", 2), getBytes(pq, "pk"), getBytes(pq, "sig")];
      const salt = Number(getInteger(pq, "slt"));
      if (scheme === undefined || publicKey === undefined || signature === undefined || salt > 255) return false;
      if (![...pq.keys()].every((key) => typeof key === "string" && PQ_MEMBERS.includes(key))) return false;
      const isOwn = equalBytes(scheme, utf8(FALCON_SCHEME)) && equalBytes(falconAccount(salt, publicKey), account);
      return isOwn && verifyFalcon(publicKey, message, signature);
    }) ?? false
  );
}

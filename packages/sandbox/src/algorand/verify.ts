import { createPublicKey, verify } from "node:crypto";
import {
  decodeAddress,
  getBytes,
  getInteger,
  getMap,
  getString,
  type MsgpackMap,
  type MsgpackValue,
  multisigAccount,
  RawString,
  signedMessage,
} from "@attestd/proof/algorand";
import { equalBytes, utf8 } from "@attestd/proof/encoding";
import {
  type Consensus,
  MAX_ASSET_DECIMALS,
  MAX_ASSET_NAME_BYTES,
  MAX_ASSET_UNIT_NAME_BYTES,
  MAX_ASSET_URL_BYTES,
  MAX_TXN_LIFE,
} from "./consensus.ts";
import { checkFalconSignature } from "./falcon.ts";
import type { Genesis } from "./genesis.ts";
import { printSigned } from "./go-print.ts";
import { checkGroup } from "./group.ts";
import { prefixRejection, Rejection } from "./rejection.ts";
import {
  getAddress,
  SIGNATURE_KINDS,
  type SignedTransaction,
  strayType,
  type Transaction,
  ZERO_ADDRESS,
} from "./transaction.ts";

/** An ed25519 signature to verify (RFC 8032). */
interface SignatureCheck {
  publicKey: Uint8Array;
  signature: Uint8Array;
  message: Uint8Array;
}

/**
 * Checks a group without the ledger: form, group id, signatures, in go-algorand's order
 * (`data/transactions/verify/txn.go`).
 * @param allowEmptySignatures simulate's option: an unsigned transaction counts as signed by its claimed signer
 * @throws Rejection with the index of the invalid transaction, if a single one is invalid
 */
export function verifyGroup(
  group: SignedTransaction[],
  special: Genesis["special"],
  consensus: Consensus,
  allowEmptySignatures = false,
): void {
  const eachValid = <T>(check: (signed: SignedTransaction) => T): T[] =>
    group.map((signed, index) =>
      prefixRejection(
        () => `transaction ${printSigned(signed)} invalid : `,
        index,
        () => check(signed),
      ),
    );
  eachValid(({ txn }) => checkForm(txn, special, consensus));
  checkGroup(group);
  const checks = eachValid((signed) => signatureChecks(signed, consensus, allowEmptySignatures));
  if (!checks.flat().every(isValidSignature)) throw new Rejection("At least one signature didn't pass verification");
}

/**
 * Checks a single transaction (go-algorand's `WellFormed`).
 * @throws Rejection. Types that this ledger does not support are rejected as by a consensus version without them.
 */
function checkForm(txn: Transaction, { feeSink, rewardsPool }: Genesis["special"], { maxNoteBytes }: Consensus): void {
  switch (txn.type) {
    case "pay":
      // For a payment without either address, Go also compares the zero addresses.
      if ((getAddress(txn.map, "close") ?? ZERO_ADDRESS) === txn.sender)
        throw new Rejection(`transaction cannot close account to its sender ${txn.sender}`);
      if (txn.sender === feeSink) throw new Rejection(`cannot spend from fee sink address ${feeSink}`);
      break;
    case "axfer":
      if (!txn.map.has("xaid") && txn.map.has("aamt")) throw new Rejection("asset ID cannot be zero");
      if (txn.map.has("asnd") && txn.map.has("aclose")) throw new Rejection("cannot close asset by clawback");
      break;
    case "acfg":
      checkAssetParameters(getMap(txn.map, "apar") ?? new Map());
      break;
    case "afrz":
      if (!txn.map.has("faid")) throw new Rejection("asset ID cannot be zero");
      if (!txn.map.has("fadd")) throw new Rejection("freeze account cannot be empty");
      break;
    case "appl":
      throw new Rejection("application transaction not supported");
    case "stpf":
      throw new Rejection("state proofs not supported");
    case "hb":
      throw new Rejection("heartbeat transaction not supported");
    default:
      throw new Rejection(`unknown tx type ${txn.type}`);
  }
  const stray = strayType(txn);
  if (stray !== undefined) throw new Rejection(`transaction of type ${txn.type} has non-zero fields for type ${stray}`);
  const window = `(${txn.firstValid}--${txn.lastValid})`;
  if (txn.lastValid < txn.firstValid) throw new Rejection(`transaction invalid range ${window}`);
  if (txn.lastValid - txn.firstValid > MAX_TXN_LIFE) throw new Rejection(`transaction window size excessive ${window}`);
  if (txn.noteLength > maxNoteBytes)
    throw new Rejection(`transaction note too big: ${txn.noteLength} > ${maxNoteBytes}`);
  if (txn.sender === rewardsPool) throw new Rejection("transaction from incentive pool is invalid");
  if (txn.sender === ZERO_ADDRESS) throw new Rejection("transaction cannot have zero sender");
}

function checkAssetParameters(parameters: MsgpackMap): void {
  const limits = [
    ["an", "asset name", MAX_ASSET_NAME_BYTES],
    ["un", "asset unit name", MAX_ASSET_UNIT_NAME_BYTES],
    ["au", "asset url", MAX_ASSET_URL_BYTES],
  ] as const;
  for (const [key, label, limit] of limits) {
    const length = textLength(parameters, key);
    if (length > limit) throw new Rejection(`transaction ${label} too big: ${length} > ${limit}`);
  }
  if (Number(parameters.get("dc") ?? 0) > MAX_ASSET_DECIMALS)
    throw new Rejection(`transaction asset decimals is too high (max is ${MAX_ASSET_DECIMALS})`);
}

function textLength(map: MsgpackMap, key: string): number {
  const value = map.get(key);
  return value instanceof RawString ? value.bytes.length : utf8(getString(map, key) ?? "").length;
}

function signatureChecks(
  { txn, map, authorizer }: SignedTransaction,
  { isSince42 }: Consensus,
  allowEmpty: boolean,
): SignatureCheck[] {
  if (isSince42 && getAddress(map, "sgnr") === txn.sender)
    throw new Rejection("AuthAddr must be different from Sender");
  const quantum = getMap(map, "pqsig");
  if (quantum !== undefined && !isSince42) throw new Rejection("pq signature not enabled");
  const kinds = SIGNATURE_KINDS.filter((kind) => map.has(kind));
  if (kinds.length === 0) {
    if (allowEmpty) return [];
    throw new Rejection("signedtxn has no sig");
  }
  if (kinds.length > 1) throw new Rejection("signedtxn should have only one type of signature");
  // Programs are not run here.
  if (map.has("lsig")) throw new Rejection("LogicSig not enabled");
  const message = signedMessage(txn.bytes);
  if (quantum !== undefined) {
    prefixRejection("pq signature validation failed: ", undefined, () =>
      checkFalconSignature(quantum, authorizer, message),
    );
    return [];
  }
  const multisig = getMap(map, "msig");
  if (multisig === undefined) {
    const signature = getBytes(map, "sig", 64) ?? new Uint8Array(64);
    return [{ publicKey: decodeAddress(authorizer), signature, message }];
  }
  return prefixRejection("multisig validation failed: ", undefined, () =>
    multisigChecks(multisig, authorizer, message),
  );
}

/** Whether the signature is valid. It is invalid if the public key is not a point, like an application's address. */
function isValidSignature({ publicKey, signature, message }: SignatureCheck): boolean {
  try {
    const key = createPublicKey({ key: publicKey, format: "raw-public", asymmetricKeyType: "ed25519" });
    return verify(null, message, key, signature);
  } catch {
    return false;
  }
}

/**
 * Returns the signatures of a multisignature, which must all be valid.
 * @param multisig the envelope's `msig`: `{subsig: [{pk, s?}], thr, v}`
 * @param authorizer the address of its keys and threshold
 * @throws Rejection with go-algorand's message when it is malformed (`crypto/multisig.go`)
 */
function multisigChecks(multisig: MsgpackMap, authorizer: string, message: Uint8Array): SignatureCheck[] {
  const version = Number(getInteger(multisig, "v"));
  const threshold = Number(getInteger(multisig, "thr"));
  const parts = (multisig.get("subsig") ?? []) as MsgpackValue;
  if (!Array.isArray(parts)) throw new Rejection("Invalid number of signatures");
  const keys = parts.map((part) => ({ publicKey: memberOf(part, "pk", 32), signature: memberOf(part, "s", 64) }));
  if (version !== 1) throw new Rejection("Invalid version");
  if (threshold === 0 || keys.length === 0 || threshold > keys.length || keys.length > 255)
    throw new Rejection("Invalid threshold");
  const publicKeys = keys.map(({ publicKey }) => publicKey ?? new Uint8Array(32));
  if (!equalBytes(multisigAccount(threshold, publicKeys), decodeAddress(authorizer)))
    throw new Rejection("Invalid address");
  const checks = keys.flatMap(({ signature }, index) =>
    signature === undefined ? [] : [{ publicKey: publicKeys[index] as Uint8Array, signature, message }],
  );
  if (checks.length < threshold) throw new Rejection("Invalid number of signatures");
  return checks;
}

function memberOf(part: MsgpackValue, name: string, length: number): Uint8Array | undefined {
  if (!(part instanceof Map)) throw new Rejection("Invalid number of signatures");
  return getBytes(part, name, length);
}

import { isProofError, ProofError } from "@attestd/proof";
import { decodeAddress, getBytes, getMap, getString, type MsgpackMap, RawString } from "@attestd/proof/algorand";
import { utf8 } from "@attestd/proof/encoding";
import {
  MAX_ASSET_DECIMALS,
  MAX_ASSET_NAME_BYTES,
  MAX_ASSET_UNIT_NAME_BYTES,
  MAX_ASSET_URL_BYTES,
  MAX_TXN_LIFE,
  MAX_TXN_NOTE_BYTES,
  MIN_TXN_FEE,
} from "./consensus.ts";
import { Rejection } from "./rejection.ts";
import { isValidSignature, multisigChecks, type SignatureCheck, signedMessage } from "./signature.ts";
import { getAddress, type SignedTransaction, strayType, type Transaction, ZERO_ADDRESS } from "./transaction.ts";

/** Accounts without keys, which may not send. */
export interface SpecialAddresses {
  feeSink: string;
  rewardsPool: string;
}

/**
 * Checks a group without the ledger: form, fees, signatures, in go-algorand's order (`data/transactions/verify/txn.go`).
 * @param allowEmptySignatures simulate's option: an unsigned transaction counts as signed by its claimed signer
 * @throws Rejection with the index of the invalid transaction, if it is one
 */
export function verifyGroup(group: SignedTransaction[], special: SpecialAddresses, allowEmptySignatures = false): void {
  const checks = group.flatMap((signed, index) => {
    try {
      checkForm(signed.txn, special);
      return signatureChecks(signed, allowEmptySignatures);
    } catch (error) {
      if (!isProofError(error, "malformed")) throw error;
      throw new Rejection(`transaction ${signed.txn.id} invalid : ${error.message}`, index);
    }
  });
  const paid = group.reduce((sum, { txn }) => sum + txn.fee, 0n);
  if (paid < MIN_TXN_FEE * BigInt(group.length))
    throw new Rejection(`txgroup had ${paid} in fees, which is less than the minimum ${group.length} * ${MIN_TXN_FEE}`);
  if (!checks.every(isValidSignature)) throw new Rejection("At least one signature didn't pass verification");
}

/**
 * Checks the transaction by itself (go-algorand's `WellFormed`).
 * @throws ProofError `malformed` with go-algorand's message. Types that this ledger does not support are rejected as by a consensus
 * version without them.
 */
function checkForm(txn: Transaction, { feeSink, rewardsPool }: SpecialAddresses): void {
  switch (txn.type) {
    case "pay":
      if (getAddress(txn.map, "close") === txn.sender)
        throw new ProofError("malformed", `transaction cannot close account to its sender ${txn.sender}`);
      if (txn.sender === feeSink)
        throw new ProofError(
          "malformed",
          `cannot spend from fee sink's address ${feeSink} to non incentive pool address ${getAddress(txn.map, "rcv") ?? ZERO_ADDRESS}`,
        );
      break;
    case "axfer":
      if (!txn.map.has("xaid") && txn.map.has("aamt")) throw new ProofError("malformed", "asset ID cannot be zero");
      if (txn.map.has("asnd") && txn.map.has("aclose"))
        throw new ProofError("malformed", "cannot close asset by clawback");
      break;
    case "acfg":
      checkAssetParameters(getMap(txn.map, "apar") ?? new Map());
      break;
    case "afrz":
      if (!txn.map.has("faid")) throw new ProofError("malformed", "asset ID cannot be zero");
      if (!txn.map.has("fadd")) throw new ProofError("malformed", "freeze account cannot be empty");
      break;
    case "appl":
      throw new ProofError("malformed", "application transaction not supported");
    case "stpf":
      throw new ProofError("malformed", "state proofs not supported");
    case "hb":
      throw new ProofError("malformed", "heartbeat transaction not supported");
    default:
      throw new ProofError("malformed", `unknown tx type ${txn.type}`);
  }
  const stray = strayType(txn);
  if (stray !== undefined)
    throw new ProofError("malformed", `transaction of type ${txn.type} has non-zero fields for type ${stray}`);
  const window = `(${txn.firstValid}--${txn.lastValid})`;
  if (txn.lastValid < txn.firstValid) throw new ProofError("malformed", `transaction invalid range ${window}`);
  if (txn.lastValid - txn.firstValid > MAX_TXN_LIFE)
    throw new ProofError("malformed", `transaction window size excessive ${window}`);
  const noteLength = getBytes(txn.map, "note")?.length ?? 0;
  if (noteLength > MAX_TXN_NOTE_BYTES)
    throw new ProofError("malformed", `transaction note too big: ${noteLength} > ${MAX_TXN_NOTE_BYTES}`);
  if (txn.sender === rewardsPool) throw new ProofError("malformed", "transaction from incentive pool is invalid");
  if (txn.sender === ZERO_ADDRESS) throw new ProofError("malformed", "transaction cannot have zero sender");
}

function checkAssetParameters(parameters: MsgpackMap): void {
  const limits = [
    ["an", "asset name", MAX_ASSET_NAME_BYTES],
    ["un", "asset unit name", MAX_ASSET_UNIT_NAME_BYTES],
    ["au", "asset url", MAX_ASSET_URL_BYTES],
  ] as const;
  for (const [key, words, limit] of limits) {
    const length = textLength(parameters, key);
    if (length > limit) throw new ProofError("malformed", `transaction ${words} too big: ${length} > ${limit}`);
  }
  if (Number(parameters.get("dc") ?? 0) > MAX_ASSET_DECIMALS)
    throw new ProofError("malformed", `transaction asset decimals is too high (max is ${MAX_ASSET_DECIMALS})`);
}

function textLength(map: MsgpackMap, key: string): number {
  const value = map.get(key);
  return value instanceof RawString ? value.bytes.length : utf8(getString(map, key) ?? "").length;
}

function signatureChecks({ txn, map, authorizer }: SignedTransaction, allowEmpty: boolean): SignatureCheck[] {
  const kinds = ["sig", "msig", "lsig"].filter((kind) => map.has(kind));
  if (kinds.length === 0) {
    if (allowEmpty) return [];
    throw new ProofError("malformed", "signedtxn has no sig");
  }
  if (kinds.length > 1) throw new ProofError("malformed", "signedtxn should only have one of Sig or Msig or LogicSig");
  // Programs are not run here.
  if (map.has("lsig")) throw new ProofError("malformed", "LogicSig not enabled");
  const message = signedMessage(txn.bytes);
  const multisig = getMap(map, "msig");
  if (multisig === undefined)
    return [
      { publicKey: decodeAddress(authorizer), signature: getBytes(map, "sig", 64) ?? new Uint8Array(64), message },
    ];
  try {
    return multisigChecks(multisig, authorizer, message);
  } catch (error) {
    if (isProofError(error, "malformed"))
      throw new ProofError("malformed", `multisig validation failed: ${error.message}`);
    throw error;
  }
}

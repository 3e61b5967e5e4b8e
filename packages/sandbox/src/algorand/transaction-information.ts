import { decodeMsgpackMap, getInteger, type MsgpackMap, type MsgpackValue, structMap } from "@attestd/proof/algorand";
import { parseJson } from "../json.ts";
import { inBlockMap } from "./block.ts";
import { MAX_TX_GROUP_SIZE, MAX_TXN_LIFE } from "./consensus.ts";
import { groupFees, groupUsage } from "./group.ts";
import { fromAlgodJson } from "./json.ts";
import type { Ledger } from "./ledger.ts";
import { listOf } from "./members.ts";
import type { LedgerNode } from "./node.ts";
import { Rejection } from "./rejection.ts";
import { SIGNATURE_KINDS, type SignedTransaction, signedTransaction } from "./transaction.ts";

const RESULT_VERSION = 2;

/** Members of an in-block map that belong to the signed transaction; the others are its effects. */
const ENVELOPE: readonly string[] = [...SIGNATURE_KINDS, "sgnr"];

/**
 * Returns algod's answer to `/v2/transactions/pending/{txid}` for a transaction in the pool or the last 1000 rounds, as
 * a map for msgpack and JSON.
 */
export function pendingInformation({ ledger, round, behaviour }: LedgerNode, id: string): MsgpackMap | undefined {
  if (behaviour.follower) return undefined;
  const waiting = ledger.pooled(id);
  if (waiting !== undefined) return information(waiting.map);
  const location = ledger.blocks.locate(id);
  if (location === undefined || location.round < round - MAX_TXN_LIFE) return undefined;
  const found = ledger.blocks.payset(location.round)[location.index];
  if (found === undefined) return undefined;
  const signed: MsgpackMap = new Map([...found.inBlock].filter(([name]) => ENVELOPE.includes(String(name))));
  signed.set("txn", found.txn);
  // A node that is behind still has the transaction in its pool.
  return location.round > round ? information(signed) : information(signed, location.round, found.inBlock);
}

/**
 * Answers `POST /v2/transactions/simulate`. As on a real node, the body is msgpack or JSON, whatever its media type.
 * Options for programs are accepted and have no effect.
 * @throws Rejection when a real node answers 400 without a result
 */
export function answerSimulate({ ledger, round }: LedgerNode, body: Uint8Array): MsgpackMap {
  const request = parseRequest(body);
  const groups = listOf(request.get("txn-groups")).map((group) =>
    listOf(group instanceof Map ? group.get("txns") : undefined),
  );
  for (const { length } of groups) {
    if (length === 0) throw new Rejection("empty txgroup");
    if (length > MAX_TX_GROUP_SIZE)
      throw new Rejection(`transaction group size ${length} exceeds protocol max ${MAX_TX_GROUP_SIZE}`);
  }
  const [members] = groups;
  if (members === undefined || groups.length !== 1)
    throw new Rejection(`expected 1 transaction group, got ${groups.length}`);

  const allowEmptySignatures = request.get("allow-empty-signatures") === true;
  const fixSigners = request.get("fix-signers") === true;
  if (fixSigners && !allowEmptySignatures)
    throw new Rejection("FixSigners requires AllowEmptySignatures to be enabled");
  const group = members.map((member) => {
    const signed = signedTransaction(member);
    return fixSigners ? withRightfulSigner(ledger, signed) : signed;
  });
  const { applied, failure } = ledger.simulate(group, allowEmptySignatures, round + 1);
  const results = group.map((signed, index): MsgpackMap => {
    const effects = inBlockMap(new Map(), signed.txn.map, applied[index] ?? {});
    return structMap({
      "fees-paid": signed.txn.fee,
      "txn-result": information(signed.map, undefined, effects),
    });
  });
  const outcome = structMap({
    "failed-at": failure?.groupIndex === undefined ? undefined : [failure.groupIndex],
    "failure-message": failure?.message,
    "group-fees-paid": groupFees(group),
    "group-usage": groupUsage(group, ledger.consensus),
    "txn-results": results,
  });
  const overrides = structMap({ "allow-empty-signatures": allowEmptySignatures, "fix-signers": fixSigners });
  const answer = structMap({ "eval-overrides": overrides });
  return answer.set("last-round", round).set("txn-groups", [outcome]).set("version", RESULT_VERSION);
}

function parseRequest(body: Uint8Array): MsgpackMap {
  try {
    return decodeMsgpackMap(body);
  } catch {
    const request = jsonRequest(body);
    if (request instanceof Map) return request;
    throw new Rejection(
      "failed to decode object: json decode error [pos 1]: only encoded map or array can be decoded into a struct",
    );
  }
}

function jsonRequest(body: Uint8Array): MsgpackValue | undefined {
  try {
    return fromAlgodJson(parseJson(new TextDecoder().decode(body)));
  } catch {
    return undefined;
  }
}

function withRightfulSigner(ledger: Ledger, signed: SignedTransaction): SignedTransaction {
  const unsigned = !SIGNATURE_KINDS.some((kind) => signed.map.has(kind));
  const rightful = ledger.state.account(signed.txn.sender).authAddress ?? signed.txn.sender;
  return unsigned ? { ...signed, authorizer: rightful } : signed;
}

/**
 * Returns the common form of pending and simulate answers (go-algorand's PreEncodedTxInfo).
 * @param applied the in-block map, or one with only its `caid`, `ca`, `aca`
 */
function information(signed: MsgpackMap, round?: number, applied: MsgpackMap = new Map()): MsgpackMap {
  const map: MsgpackMap = new Map([["pool-error", ""]]);
  map.set("txn", signed);
  if (round !== undefined) map.set("confirmed-round", round);
  const effects = { "asset-index": "caid", "asset-closing-amount": "aca", "closing-amount": "ca" };
  for (const [name, member] of Object.entries(effects)) {
    const amount = getInteger(applied, member);
    if (amount !== 0n) map.set(name, amount);
  }
  return map;
}

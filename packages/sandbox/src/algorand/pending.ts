import { getInteger, type MsgpackMap, type MsgpackValue } from "@attestd/proof/algorand";
import { MAX_TXN_LIFE } from "./consensus.ts";
import type { Ledger } from "./ledger.ts";

/** Members of an in-block map that belong to the signed transaction; the others are its effects. */
const ENVELOPE = ["sig", "msig", "lsig", "pqsig", "sgnr"];

/**
 * algod's answer to `/v2/transactions/pending/{txid}` for a transaction in the pool or of the last 1000 rounds, as a map
 * for msgpack and JSON.
 */
export function pendingInformation(ledger: Ledger, id: string): MsgpackMap | undefined {
  const waiting = ledger.pooled(id);
  if (waiting !== undefined) return information(waiting.map);
  const location = ledger.blocks.locate(id);
  if (location === undefined || location.round < ledger.round - MAX_TXN_LIFE) return undefined;
  const found = ledger.blocks.payset(location.round)?.transactions[location.index];
  if (found === undefined) return undefined;
  const signed: MsgpackMap = new Map([...found.inBlock].filter(([name]) => ENVELOPE.includes(String(name))));
  return information(signed.set("txn", found.txn), location.round, found.inBlock);
}

/**
 * The common form of pending and simulate answers (go-algorand's PreEncodedTxInfo).
 * @param applied the in-block map, or one with its `caid`, `ca`, `aca` alone
 */
export function information(signed: MsgpackMap, round?: number, applied: MsgpackMap = new Map()): MsgpackMap {
  const map = new Map<string, MsgpackValue>([
    ["pool-error", ""],
    ["txn", signed],
  ]);
  if (round !== undefined) map.set("confirmed-round", round);
  const effects = { "asset-index": "caid", "asset-closing-amount": "aca", "closing-amount": "ca" };
  for (const [name, member] of Object.entries(effects)) {
    const amount = getInteger(applied, member);
    if (amount !== 0n) map.set(name, amount);
  }
  return map;
}

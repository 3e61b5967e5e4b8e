import {
  encodeAddress,
  encodeMsgpack,
  getBytes,
  getMap,
  type MsgpackMap,
  restoreTransaction,
  splitBlock,
  txid,
} from "../src/algorand/index.ts";
import { toBase64 } from "../src/encoding.ts";
import { checkAuthorisationItem } from "../src/evidence/authorisation.ts";
import type { AlgorandAuthorisationItem } from "../src/evidence/form.ts";
import { flip } from "./flips.ts";
import { vectors } from "./vectors.ts";

/* Transactions that a real node put into its blocks, and every change of one bit of what says who authorised them. */

/** A transaction, its block's entry for it, and its sender's 32 bytes. */
export type Authorised = { transaction: Uint8Array; entry: MsgpackMap; sender: Uint8Array };

/** The recorded transactions by their labels. */
export function recordedAuthorisations(labels: readonly string[]): Record<string, Authorised> {
  const all: Record<string, string>[] = vectors.json("go-algorand/algod-transactions.json");
  const found = labels.map((label) => {
    const { consensus, round, txid: id } = all.findLast((one) => one.label === label) ?? {};
    const file = `${consensus}-${round}.msgpack`;
    const { header, transactions } = splitBlock(vectors.bytes(`go-algorand/blocks/${file}`));
    for (const entry of transactions) {
      const map = restoreTransaction(entry, header);
      const transaction = encodeMsgpack(map);
      if (txid(transaction) === id)
        return [label, { transaction, entry, sender: getBytes(map, "snd", 32) as Uint8Array }];
    }
    throw new Error(`${label} is not in ${file}`);
  });
  return Object.fromEntries(found);
}

/** The members of an inclusion that the signature is read from. */
export function signedMembers({ transaction, entry }: Authorised) {
  const member = { type: "algorand-inclusion/1" as const, headerBase64: "", index: 0, siblings: [] };
  return { ...member, txnBytesBase64: toBase64(transaction), stibBase64: toBase64(encodeMsgpack(entry)) };
}

export function faultsOf(item: AlgorandAuthorisationItem, of: Authorised) {
  return checkAuthorisationItem(item, signedMembers(of), encodeAddress(of.sender), "/items/0");
}

export type AuthorisationChange = { what: string; item: AlgorandAuthorisationItem; changed: Authorised };

/** Every `step`-th bit of transaction, account, signature and key. */
export function* changesOf(
  item: AlgorandAuthorisationItem,
  of: Authorised,
  step: number,
): Generator<AuthorisationChange> {
  const { transaction, entry, sender } = of;
  const each = function* (
    what: string,
    bytes: Uint8Array,
    changed: (to: Uint8Array) => Omit<AuthorisationChange, "what">,
  ) {
    for (let bit = 0; bit < bytes.length * 8; bit += step)
      yield { what: `${what} bit ${bit}`, ...changed(flip(bytes, bit)) };
  };
  const inEntry = (map: MsgpackMap, name: string, wrap: (changed: MsgpackMap) => MsgpackMap) =>
    each(name, getBytes(map, name) as Uint8Array, (to) => ({
      item,
      changed: { ...of, entry: wrap(new Map(map).set(name, to)) },
    }));
  yield* each("transaction", transaction, (to) => ({ item, changed: { ...of, transaction: to } }));
  if (item.authorizer === undefined) yield* each("sender", sender, (to) => ({ item, changed: { ...of, sender: to } }));
  else
    yield* each("sgnr", getBytes(entry, "sgnr") as Uint8Array, (to) => ({
      item: { ...item, authorizer: encodeAddress(to) },
      changed: { ...of, entry: new Map(entry).set("sgnr", to) },
    }));
  if (entry.has("sig")) yield* inEntry(entry, "sig", (map) => map);
  const pq = getMap(entry, "pqsig");
  if (pq === undefined) return;
  const inPq = (map: MsgpackMap) => new Map(entry).set("pqsig", map);
  for (const name of ["sch", "pk", "sig"]) yield* inEntry(pq, name, inPq);
  for (let bit = 0; bit < 8; bit++) {
    const slt = Number(pq.get("slt") ?? 0) ^ (1 << bit);
    const map = new Map(pq);
    map.delete("slt");
    yield { what: `slt bit ${bit}`, item, changed: { ...of, entry: inPq(slt === 0 ? map : map.set("slt", slt)) } };
  }
}

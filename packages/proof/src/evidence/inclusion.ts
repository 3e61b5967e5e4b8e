import {
  algorandCaip2,
  decodeAddress,
  decodeTransaction,
  type MsgpackMap,
  transactionLeaf,
  txid,
  verifyLeaf,
} from "../algorand/index.ts";
import type { SignedBundle } from "../bundle.ts";
import { compare, type Finding } from "../chain-format.ts";
import { equalBytes, fromBase64, utf8 } from "../encoding.ts";
import { attempt } from "../errors.ts";
import type { AlgorandInclusionItem } from "./form.ts";
import { type ProvenHeader, readHeader } from "./header.ts";

/**
 * Checks that the item's transaction is the attestation that the bundle names, and that it is in the block with the
 * item's header.
 * @param ledger CAIP-2 of the ledger that the note names; undefined if it names none
 * @returns the header, or the faults
 */
export function checkInclusionItem(
  item: AlgorandInclusionItem,
  { attest, attestor }: SignedBundle,
  ledger: string | undefined,
  pointer: string,
): ProvenHeader | Finding[] {
  const transaction = fromBase64(item.txnBytesBase64);
  const map = attempt("malformed", () => decodeTransaction(transaction));
  const header = attempt("malformed", () => readHeader(fromBase64(item.headerBase64)));
  const at = (member: string) => `${pointer}/${member}`;
  if (map === undefined) return [{ pointer: at("txnBytesBase64"), message: "is no transaction" }];
  if (header === undefined) return [{ pointer: at("headerBase64"), message: "is no header" }];
  const leaf = transactionLeaf("txn256", transaction, fromBase64(item.stibBase64));
  const leads = verifyLeaf("txn256", leaf, item.index, item.siblings.map(fromBase64), header.root);
  const faults = [
    ...compare(at("txnBytesBase64"), txid(transaction), attest.txnId),
    ...(isAttestation(map, attest.note, attestor.algorandAddress, header.genesisHash)
      ? []
      : [{ pointer: at("txnBytesBase64"), message: "is not the attestation that the bundle states" }]),
    ...compare(at("headerBase64"), header.round, attest.round),
    ...compare(at("headerBase64"), algorandCaip2(header.genesisHash), ledger),
    ...(leads ? [] : [{ pointer: at("siblings"), message: "does not lead to the header's txn256" }]),
  ];
  return faults.length > 0 ? faults : header;
}

/**
 * Whether a transaction is an attestation: a payment of nothing, without close or rekey, by the attestor's account,
 * with the bundle's note, on the header's network.
 */
function isAttestation(map: MsgpackMap, note: string, address: string, genesisHash: Uint8Array): boolean {
  const is = (name: string, expected: Uint8Array) => {
    const value = map.get(name);
    return value instanceof Uint8Array && equalBytes(value, expected);
  };
  return (
    map.get("type") === "pay" &&
    !["amt", "close", "rekey"].some((name) => map.has(name)) &&
    is("snd", decodeAddress(address)) &&
    is("note", utf8(note)) &&
    is("gh", genesisHash)
  );
}

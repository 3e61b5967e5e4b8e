import { algorandCaip2, blockHash, transactionLeaf, verifyLeaf } from "../algorand/index.ts";
import type { Bundle } from "../bundle.ts";
import type { Statement } from "../bundle-members.ts";
import { compare, type Finding } from "../chain-format.ts";
import { fromBase64 } from "../encoding.ts";
import { attempt } from "../errors.ts";
import type { AlgorandSourceInclusionItem } from "./form.ts";
import { type ProvenHeader, readHeader } from "./header.ts";

/**
 * Checks that the attested transaction is in the block with the item's header, and that this is the stated block.
 * @param statement the attestor's statement about the transaction; a block's bundle has none
 * @param chain CAIP-2 of the source's chain, as the note or the item's statement names it
 * @returns the header, or the faults
 */
export function checkSourceInclusionItem(
  item: AlgorandSourceInclusionItem,
  bundle: Bundle,
  statement: Statement | undefined,
  chain: string,
  pointer: string,
): ProvenHeader | Finding[] {
  if ("block" in bundle || statement === undefined)
    return [{ pointer, message: "is not needed: the bundle itself has the block's header" }];
  const at = `${pointer}/headerBase64`;
  const header = attempt("malformed", () => readHeader(fromBase64(item.headerBase64)));
  if (header === undefined) return [{ pointer: at, message: "is no header" }];
  const transaction = fromBase64(bundle.source.txnBytesBase64);
  const leaf = transactionLeaf("txn256", transaction, fromBase64(item.stibBase64));
  const leads = verifyLeaf("txn256", leaf, item.index, item.siblings.map(fromBase64), header.root);
  const faults = [
    ...compare(at, blockHash(header.bytes), statement.block.hash),
    ...compare(at, header.round, statement.block.height),
    ...compare(at, header.time, statement.block.time),
    ...compare(at, algorandCaip2(header.genesisHash), chain),
    ...(leads ? [] : [{ pointer: `${pointer}/siblings`, message: "does not lead to the header's txn256" }]),
  ];
  return faults.length > 0 ? faults : header;
}

/**
 * Reads the header of a bundle about a block.
 * @param chain CAIP-2 of the source's chain, as the note names it
 * @param pointer to the evidence item that needs the header
 * @returns the header, or the faults
 */
export function readOwnHeader(headerBase64: string, chain: string, pointer: string): ProvenHeader | Finding[] {
  const header = attempt("malformed", () => readHeader(fromBase64(headerBase64)));
  if (header === undefined) return [{ pointer, message: "is of a block for which stake cannot have signed" }];
  const faults = compare(pointer, algorandCaip2(header.genesisHash), chain);
  return faults.length > 0 ? faults : header;
}

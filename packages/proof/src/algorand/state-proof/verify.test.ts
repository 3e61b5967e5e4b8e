import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { flipped } from "../../../test/flips.ts";
import { readNodeStateProof } from "../../../test/node-state-proof.ts";
import { mutations } from "../../../test/state-proof-mutations.ts";
import { mainnetProofs, type Proven, privateProofs } from "../../../test/state-proofs.ts";
import { vectors } from "../../../test/vectors.ts";
import { fromBase64 } from "../../encoding.ts";
import { splitBlock } from "../block.ts";
import { transactionLeaf, verifyLeaf } from "../merkle.ts";
import { decodeMsgpackMap, encodeMsgpack, getBytes, type MsgpackMap } from "../msgpack.ts";
import { restoreTransaction, txid } from "../transaction.ts";
import { checkStateProof, commitsToHeader, readCheckpoint } from "./index.ts";

const mainnet = mainnetProofs("the state proofs of MainNet");

const check = ({ stateProof, message, checkpoint }: Proven) => checkStateProof(stateProof, message, checkpoint);

/** algod's concatenated hashes. */
function digests(base64: string): Uint8Array[] {
  const bytes = base64 === "" ? new Uint8Array() : fromBase64(base64);
  return Array.from({ length: bytes.length / 32 }, (_, index) => bytes.subarray(index * 32, index * 32 + 32));
}

describe("the recorded state proofs", () => {
  it.skipIf(!mainnet)("of MainNet verify one after the other, from the checkpoint before", () => {
    expect(mainnet?.map(check)).toEqual([undefined, undefined]);
  });

  it.skipIf(!mainnet)("of MainNet rest on the checkpoint in docs/verify", () => {
    const file = new URL("../../../../../docs/verify/checkpoints/mainnet-59999744.json", import.meta.url);
    expect(readCheckpoint(JSON.parse(readFileSync(file, "utf8")), "")).toEqual(mainnet?.[0]?.checkpoint);
  });

  it("of a private network with an interval of 16 verify one after the other", () => {
    expect(privateProofs().map(check)).toEqual(Array(6).fill(undefined));
  });

  it("lead from MainNet's round 60,000,000 to the transaction recorded in it", () => {
    const { block, transaction } = vectors.json("state-proof/mainnet-60000000.json");
    const { proof, idx, stibhash } = transaction.proof;
    expect(digests(proof)).toHaveLength(transaction.proof.treedepth);
    // The recording has only the transaction's hash.
    const elements = [transaction.txnSha256, stibhash].map(fromBase64) as [Uint8Array, Uint8Array];
    const leaf = createHash("sha256").update("TL").update(elements[0]).update(elements[1]).digest();
    expect(verifyLeaf("txn256", leaf, idx, digests(proof), fromBase64(block.txn256))).toBe(true);
  });

  it("lead from the bytes of a transaction to the stake that signed for its round", () => {
    const recorded = vectors.json("state-proof/private-256-transaction.json");
    const { header, headerBytes, transactions } = splitBlock(fromBase64(recorded.blockMsgpack));
    const { message } = readNodeStateProof(recorded.stateProof);
    const [entry] = transactions as [MsgpackMap];
    const bytes = encodeMsgpack(restoreTransaction(entry, header));
    expect(txid(bytes)).toBe(recorded.txid);
    const leaf = transactionLeaf("txn256", bytes, encodeMsgpack(entry));
    expect(verifyLeaf("txn256", leaf, 0, [], getBytes(header, "txn256") as Uint8Array)).toBe(true);
    const siblings = digests(recorded.lightHeaderProof.proof);
    expect(commitsToHeader(message, headerBytes, siblings)).toBe(true);
    for (const changed of flipped(headerBytes, 7)) expect(commitsToHeader(message, changed, siblings)).toBe(false);
    for (const [place, sibling] of siblings.entries())
      for (const changed of flipped(sibling, 7))
        expect(commitsToHeader(message, headerBytes, siblings.with(place, changed))).toBe(false);
  });

  /** Changes every `step`-th bit of each part, and returns which changes verify. */
  const changed = (one: Proven, step: (part: string) => number) => {
    const tried = [...mutations(one, step)].map(({ what, changed }) => ({ what, fault: check(changed) }));
    return { tried: tried.length, accepted: tried.filter(({ fault }) => fault === undefined) };
  };
  // 3 has no factor in common with 8, nor have 61 and 99,991: every bit position of a byte occurs.

  it("verify with no bit changed: of a small proof some 2,000 changes", () => {
    const { tried, accepted } = changed(privateProofs()[0] as Proven, (part) => (part === "proof" ? 61 : 3));
    expect(tried).toBeGreaterThan(2_000);
    expect(accepted).toEqual([]);
  });

  it.skipIf(!mainnet)("verify with no bit changed: of one of MainNet some 40 changes", () => {
    const { tried, accepted } = changed(mainnet?.[0] as Proven, (part) => (part === "proof" ? 99_991 : 97));
    expect(tried).toBeGreaterThan(40);
    expect(accepted).toEqual([]);
  });

  it("are refused for what is wrong with them", () => {
    const [one, next] = privateProofs() as [Proven, Proven];
    const { message, checkpoint } = one;
    const at = (change: Partial<Proven>) => check({ ...one, ...change });
    expect(at({ stateProof: one.stateProof.subarray(0, -1) })).toBe("form");
    expect(at({ stateProof: Uint8Array.of(...one.stateProof, 0) })).toBe("form");
    expect(at({ checkpoint: next.checkpoint })).toBe("rounds");
    expect(at({ message: { ...message, lastAttestedRound: 33 } })).toBe("rounds");
    expect(at({ message: { ...message, lastAttestedRound: 24 } })).toBe("coins");
    expect(at({ checkpoint: { ...checkpoint, lnProvenWeight: 2_400_000 } })).toBe("weight");
    expect(at({ checkpoint: { ...checkpoint, lnProvenWeight: 2_334_873 } })).toBe("coins");
    expect(at({ message: { ...message, blockHeadersCommitment: next.message.blockHeadersCommitment } })).toBe("coins");
  });

  it("are refused where they say what no verifier could check", () => {
    const [one] = privateProofs() as [Proven];
    const changed = (change: (proof: MsgpackMap) => void) => {
      const proof = decodeMsgpackMap(one.stateProof);
      change(proof);
      return check({ ...one, stateProof: encodeMsgpack(proof) });
    };
    const map = (of: MsgpackMap, ...path: (string | number)[]) =>
      path.reduce((at, key) => at.get(key) as MsgpackMap, of);
    const [place, reveal] = [...map(decodeMsgpackMap(one.stateProof), "r")][0] as [number, MsgpackMap];
    expect(changed(() => {})).toBeUndefined();
    // A reveal without a coin, a coin without a reveal, an extra member, an empty member, another hash function.
    expect(changed((proof) => map(proof, "r").set(place + 1000, reveal))).toBe("form");
    expect(changed((proof) => (proof.get("pr") as number[]).push(1000))).toBe("form");
    expect(changed((proof) => proof.set("x", 1))).toBe("form");
    expect(changed((proof) => proof.set("v", 0))).toBe("form");
    expect(changed((proof) => proof.set("v", 1))).toBe("salt");
    expect(changed((proof) => map(proof, "S", "hsh").set("t", 2))).toBe("form");
    // One level more or less, one hash more or less.
    for (const tree of ["S", "P"]) {
      const depth = map(decodeMsgpackMap(one.stateProof), tree).get("td") as number;
      const fault = tree === "S" ? "signatures" : "participants";
      expect(changed((proof) => map(proof, tree).set("td", depth + 1))).toBe(fault);
      expect(changed((proof) => map(proof, tree).set("td", depth - 1))).toBe(fault);
      expect(changed((proof) => map(proof, tree).set("td", 21))).toBe("form");
      expect(changed((proof) => map(proof, tree).set("pth", [new Uint8Array(64)]))).toBe(fault);
    }
    const key = (proof: MsgpackMap) => map(proof, "r", place, "s", "s", "prf");
    expect(changed((proof) => key(proof).set("td", 17))).toBe("form");
    expect(changed((proof) => (key(proof).get("pth") as Uint8Array[]).push(new Uint8Array(64)))).toBe("signature");
    expect(changed((proof) => map(proof, "r", place, "p").set("w", 2n ** 64n - 1n))).toBe("participants");
  });
});

// Algorand's state proofs: that the stake to which a checkpoint commits has signed a message.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { verifiesFalcon } from "./authorisation.mjs";
import { constantLength, readStateProof } from "./state-proof-form.mjs";
import { sumhash } from "./sumhash.mjs";

const decode = (text) => Buffer.from(text, "base64");
const u64 = (number) => {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(number);
  return bytes;
};
const ascii = (text) => Buffer.from(text);
const SCHEME = Buffer.alloc(2);

/** Whether leaves lead, by the reversed bits of their places, over exactly as many levels as there are, to a root. */
function lead(leaves, { pth, td }, root) {
  assert(
    leaves.every(([place]) => place < 2n ** BigInt(td)),
    "a place beyond the vector",
  );
  const reversed = (place) =>
    td === 0 ? 0 : Number.parseInt([...place.toString(2).padStart(td, "0")].reverse().join(""), 2);
  let level = leaves.map(([place, hash]) => [reversed(place), hash]).sort(([a], [b]) => a - b);
  const hints = [...pth];
  for (let height = 0; height < td; height++) {
    const above = [];
    for (let index = 0; index < level.length; index++) {
      const [place, hash] = level[index];
      const sibling = level[index + 1]?.[0] === (place ^ 1) ? level[++index][1] : hints.shift();
      assert(sibling, "too few hashes");
      above.push([place >> 1, place % 2 ? sumhash(ascii("MA"), sibling, hash) : sumhash(ascii("MA"), hash, sibling)]);
    }
    level = above;
  }
  assert(hints.length === 0 && level.length === 1 && level[0][1].equals(root), "does not lead to its root");
}

/** Whether a message attests the interval after a checkpoint: a power of two of rounds, the last a multiple of it. */
export function isNextInterval({ firstAttestedRound: first, lastAttestedRound: last }, { round }) {
  const interval = last - first + 1;
  return first === round + 1 && [1, 2, 4, 8, 16, 32, 64, 128, 256].includes(interval) && last % interval === 0;
}

/** Throws unless a state proof is one of the message, on the checkpoint. */
export function verifyStateProof(bytes, message, checkpoint) {
  const { lastAttestedRound: last } = message;
  assert(isNextInterval(message, checkpoint), "no interval");
  const { c, w, S, P, v, reveals, pr } = readStateProof(bytes);
  const voters = decode(checkpoint.votersCommitment);
  const [hash, weight] = [messageHash(message), BigInt(checkpoint.lnProvenWeight)];
  assert(isEnough(w, weight, BigInt(pr.length)), "too few coins");
  const seed = Buffer.concat([ascii("spc"), Buffer.alloc(1), voters, u64(weight), c, u64(w), hash]);
  const words = createHash("shake256", { outputLength: 8 * 64 * pr.length })
    .update(seed)
    .digest();
  let at = 0;
  for (const place of pr) {
    const most = (2n ** 64n / w) * w;
    while (words.readBigUInt64LE(at) >= most) at += 8;
    const coin = words.readBigUInt64LE(at) % w;
    at += 8;
    const { l, w: own } = reveals.get(place);
    assert(l <= coin && coin < l + own && l + own < 2n ** 64n, "a coin fell elsewhere");
  }
  const leaves = (leaf) => [...reveals].map(([place, reveal]) => [place, leaf(reveal)]);
  lead(
    leaves(({ w, lf, cmt }) => sumhash(ascii("spp"), u64(w), u64(lf), cmt)),
    P,
    voters,
  );
  lead(leaves(signatureLeaf), S, c);
  for (const { lf, cmt, k, idx, prf, sig } of reveals.values()) {
    const key = sumhash(ascii("KP"), SCHEME, u64(BigInt(last) - (BigInt(last) % lf)), k);
    lead([[idx, key]], prf, cmt);
    assert(sig[0] === 0xba && BigInt(sig[1]) === v, "no signature of this version");
    assert(verifiesFalcon(k, hash, sig), "a signature that does not fit");
  }
}

function signatureLeaf({ l, sig, k, idx, prf: { td, pth } }) {
  assert(pth.length === td, "not as many hashes as levels");
  const proof = [Buffer.from([td]), Buffer.alloc(64 * (16 - td)), ...pth];
  return sumhash(ascii("sps"), u64(l), SCHEME, constantLength(sig), k, u64(idx), ...proof);
}

function isEnough(w, p, n) {
  assert(w > 0n, "no weight");
  const d = BigInt(w.toString(2).length - 1);
  const y = w * w + 2n ** (d + 2n) * w + 2n ** (2n * d);
  return n * (3n * 2n ** 16n * (w * w - 2n ** (2n * d)) + d * 45426n * y) >= (256n * 45427n + n * p) * y;
}

function messageHash({
  lnProvenWeight,
  blockHeadersCommitment,
  firstAttestedRound,
  lastAttestedRound,
  votersCommitment,
}) {
  const integer = (number) => {
    if (number < 0x80) return Buffer.from([number]);
    const size = [1, 2, 4, 8].find((bytes) => number < 2 ** (8 * bytes));
    return Buffer.from((0xcc + Math.log2(size)).toString(16) + number.toString(16).padStart(2 * size, "0"), "hex");
  };
  const bin = (text) => Buffer.concat([Buffer.from([0xc4, decode(text).length]), decode(text)]);
  const parts = { P: integer(lnProvenWeight), b: bin(blockHeadersCommitment), f: integer(firstAttestedRound) };
  const all = { ...parts, l: integer(lastAttestedRound), v: bin(votersCommitment) };
  const map = Object.entries(all).flatMap(([name, value]) => [Buffer.from([0xa1]), ascii(name), value]);
  return createHash("sha256")
    .update("spm")
    .update(Buffer.concat([Buffer.from([0x85]), ...map]))
    .digest();
}

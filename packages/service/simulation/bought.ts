import { createHash } from "node:crypto";
import { type Note, parseNote } from "@attestd/proof";
import { fromBase64 } from "@attestd/proof/encoding";
import type { Call } from "../src/calls/call.ts";
import type { Subject } from "../src/subjects/subject.ts";
import { hashOfBlock, truthOf } from "./sources.ts";

/** What these judgements read of a bundle, of whatever kind; of a batch that is the head. */
type AnyBundle = {
  type?: string;
  source?: { txnId: string };
  block?: { height: number };
  root?: string;
  attest: { txnId: string; round: number; note: string };
  attestor: { pqPublicKey: string };
};

type AnyItem = { statement: { txnId: string }; proof: { index: number } };

const TYPES: Record<Exclude<Subject["kind"], "batch">, string | undefined> = {
  transaction: undefined,
  block: "block-attestation",
  inclusion: "tx-inclusion",
};

/** @returns what is wrong with the note of an attestation that was bought for a subject */
export function judgeNote(note: Note, subject: Subject): string | undefined {
  return isNoteOf(note, subject)
    ? undefined
    : `the note names ${JSON.stringify(note)}, and ${JSON.stringify(subject)} was bought`;
}

/** @returns what is false in what is signed about a subject, whatever nodes have said */
export function judgeTruth(note: Note, subject: Subject): string | undefined {
  if (subject.kind === "batch") return undefined;
  const stated = note as { b?: string; n?: number; u?: number; s?: number };
  const truth = subject.kind === "transaction" ? truthOf(subject.chain, subject.id) : blockAt(subject);
  const isTrue = Object.entries(truth ?? {}).every(
    ([member, value]) => stated[member as keyof typeof stated] === value,
  );
  return truth && isTrue ? undefined : `the note states ${JSON.stringify(note)} of ${JSON.stringify(subject)}`;
}

function blockAt({ chain, height }: { chain: string; height: number }): object {
  return { b: hashOfBlock(chain, height), n: height };
}

function isNoteOf(note: Note, subject: Subject): boolean {
  switch (subject.kind) {
    case "transaction":
      return "t" in note && note.t === subject.id;
    case "batch":
      return "z" in note && note.z === subject.items.length;
    default:
      return "n" in note && note.n === subject.height;
  }
}

/**
 * @param attestations ids of those that the ledger holds for the call's payment
 * @returns what is wrong with the bundle of a call
 */
export function judgeBundle(
  { key, subject, bundle, round }: Call,
  attestations: readonly string[],
): string | undefined {
  const { type, source, block, root, attest, attestor } = JSON.parse(bundle?.body ?? "") as AnyBundle;
  const note = parseNote(attest.note);
  const keySha256 = createHash("sha256").update(fromBase64(attestor.pqPublicKey)).digest("base64url");
  if (subject.kind === "batch") {
    const items = (bundle?.items ?? []).map(({ text }) => JSON.parse(text) as AnyItem);
    const given = items.map(({ statement, proof }) => `${proof.index} ${statement.txnId}`);
    const due = subject.items.map(({ id }, index) => `${index} ${id}`);
    if (given.join() !== due.join()) return `${key} is given the items ${given.join()}`;
    if (!("r" in note) || Buffer.from(root ?? "", "base64").toString("hex") !== note.r)
      return `${key} is given another root than its note has`;
  } else if (type !== TYPES[subject.kind]) return `${key} bought a ${subject.kind}, and is given ${type}`;
  if ("id" in subject && source?.txnId !== subject.id) return `${key} is given ${source?.txnId}`;
  if ("height" in subject && block?.height !== subject.height) return `${key} is given block ${block?.height}`;
  if (attest.txnId !== attestations[0] || attest.round !== round)
    return `${key} is given the attestation ${attest.txnId} of round ${attest.round}`;
  if (!("a" in note) || note.a !== keySha256) return `${key} is signed by another key than its note names`;
  return judgeNote(note, subject);
}

import type { Note } from "../note.ts";
import { utcTime } from "../text.ts";
import type { Field } from "./description.ts";

/** A label for each member of a note (docs/format.md, "The note"). */
const LABELS: Readonly<Record<string, string>> = {
  a: "Attestor's key (SHA-256)",
  b: "Block hash",
  c: "Chain of the source",
  g: "Ledger of the note",
  h: "Fingerprint of the source (SHA-256)",
  k: "Entry of a key, new or withdrawn (SHA-256)",
  l: "Confirmation seen",
  n: "Block height",
  p: "Payment (commitment)",
  r: "Root of the batch",
  s: "Outcome",
  t: "Transaction",
  u: "Block time",
  z: "Items of the batch",
};

/** A note's members in the order of their names, for people; `member` is the name in the note. */
export function noteFields(note: Note): (Field & { member: string })[] {
  const members = Object.entries(note).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return members.map(([member, value]) => ({
    member,
    label: LABELS[member] ?? member,
    value: `${value}${remark(member, value)}`,
  }));
}

function remark(member: string, value: unknown): string {
  if (member === "s") return value === 1 ? " (succeeded)" : " (failed)";
  return member === "u" ? ` (${utcTime(Number(value))})` : "";
}

import type { Note } from "@attestd/proof";
import { noteFields } from "@attestd/proof/description";

/** An explanation of a file. Its texts may be a stranger's. */
export type Inspection = {
  /** For programs. */
  kind: string;
  title: string;
  rows: [label: string, value: string][];
  /** Sentences below the rows. */
  remarks: string[];
  /** What the file states, for programs. */
  value: object;
};

/** What a note says, member by member. */
export function noteRows(note: Note): Inspection["rows"] {
  return noteFields(note).map(({ member, label, value }) => [`note ${member}`, `${label}: ${value}`]);
}

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

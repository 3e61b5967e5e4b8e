/** One line that a reader is shown. */
export type Field = { label: string; value: string };

/** A transaction in a reader's words: what its bytes ask for, not whether that came about. */
export type Description = {
  /** Such as `USDC transfer`. */
  action: string;
  /** With its unit, where it moves one thing: `25.00 USDC`. */
  amount?: string;
  /** The bytes' own members, whole. */
  fields: Field[];
};

/** A line of a transaction, for display. */
export type Field = { label: string; value: string };

/** A transaction for people: what its bytes ask for, not whether it succeeded. */
export type Description = {
  /** Such as `USDC transfer`. */
  action: string;
  /** With its unit, for a transfer: `25.00 USDC`. */
  amount?: string;
  /** All members of the transaction. */
  fields: Field[];
};

/** Why an operator's wish is not granted. */
export type RefusalCode =
  /** The words given name no payment, or more than one. */
  | "unclear"
  /** The chain does not show what it would have to show. */
  | "not_on_chain"
  /** The journal, or the ledger, speaks against it. */
  | "not_allowed";

/** An operator's wish that is not granted; `message` is a sentence that says why. */
export class Refused extends Error {
  readonly code: RefusalCode;

  constructor(code: RefusalCode, message: string) {
    super(message);
    this.name = "Refused";
    this.code = code;
  }
}

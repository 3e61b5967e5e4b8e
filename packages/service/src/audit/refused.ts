/** Why an operator's command is refused. */
export type RefusalCode =
  /** The arguments name no payment, or more than one. */
  | "unclear"
  /** The chain does not show what the command needs. */
  | "not_on_chain"
  /** The state of the journal or the ledger forbids it. */
  | "not_allowed";

/** Refuses an operator's command; `message` is a sentence with the reason. */
export class Refused extends Error {
  readonly code: RefusalCode;

  constructor(code: RefusalCode, message: string) {
    super(message);
    this.name = "Refused";
    this.code = code;
  }
}

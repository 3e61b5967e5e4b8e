import { isProofError } from "@attestd/proof";

/** The ledger rejects a transaction or group. The message is go-algorand's; algod answers with status 400. */
export class Rejection extends Error {
  override readonly name = "Rejection";
  /** Index in its group of the rejected transaction; undefined when the whole group is rejected. */
  readonly groupIndex: number | undefined;

  constructor(message: string, groupIndex?: number) {
    super(message);
    this.groupIndex = groupIndex;
  }
}

/**
 * Runs a check and puts a prefix before the message of its rejection.
 * @param prefix or a function that makes it, if that takes time
 * @param groupIndex of the checked transaction, for a rejection without one
 * @throws Rejection when the check rejects or its input is malformed
 */
export function prefixRejection<T>(prefix: string | (() => string), groupIndex: number | undefined, check: () => T): T {
  try {
    return check();
  } catch (error) {
    if (!(error instanceof Rejection) && !isProofError(error, "malformed")) throw error;
    const index = error instanceof Rejection ? (error.groupIndex ?? groupIndex) : groupIndex;
    throw new Rejection((typeof prefix === "string" ? prefix : prefix()) + error.message, index);
  }
}

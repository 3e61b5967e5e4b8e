/** A transaction or group that the ledger refuses. The message is go-algorand's own; algod answers it with status 400. */
export class Rejection extends Error {
  override readonly name = "Rejection";
  /** Place in its group of the transaction that is to blame; undefined when the group as a whole is. */
  readonly groupIndex: number | undefined;

  constructor(message: string, groupIndex?: number) {
    super(message);
    this.groupIndex = groupIndex;
  }
}

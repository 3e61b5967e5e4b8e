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

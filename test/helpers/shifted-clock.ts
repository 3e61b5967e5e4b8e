/* Preloaded (`node --import`) into a process whose clock is to be wrong, by CLOCK_AHEAD_MS. */

const ahead = Number(process.env.CLOCK_AHEAD_MS);
const RightDate = Date;

globalThis.Date = class extends RightDate {
  constructor(...given: [] | [string | number | Date]) {
    if (given.length === 0) super(RightDate.now() + ahead);
    else super(...given);
  }

  static override now(): number {
    return RightDate.now() + ahead;
  }
} as DateConstructor;

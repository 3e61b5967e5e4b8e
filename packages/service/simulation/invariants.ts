/** What must always hold, 1 to 6, and what follows from it (docs/measured/simulation.md). */
export const INVARIANTS = {
  attestedOnce: "1: every attestation has a payment, and no payment has two",
  delivered: "2: at rest, every settled payment has its attestation and its bundle",
  oneCall: "3: no payment key is in two calls",
  no402: "4: no 402 after settling, unless void",
  noBundleBefore: "5: no byte of a bundle before done",
  prompt: "6: a paid call ends within 60 s of the healing",
  committedFirst: "a state is committed before the effect that follows from it",
  voidForEver: "a void payment is never spent",
  bought: "the note and the bundle say what was bought, and by whose key",
  true: "what is signed is true: block, time and outcome",
  bound: "a payment buys one thing, and always the same bytes",
  paidOnce: "nobody pays twice: what is made after a 402 is delivered to whoever brings it again",
  namedOnce: "payments that their payer named alike are not charged twice",
  bounded: "no call is let in beyond those that may be in flight",
  carriedOnce: "while everything works, nobody takes a call from a replica that is there",
  settledAgain: "a payment that is not made, or has vanished, is asked for again while it lives",
  ownFacilitator: "a payment that names a fee payer is settled by no other facilitator",
  strangers: "who cannot sign learns nothing",
  unasked: "nobody is asked about a payment that its payer has not signed, or that we could never have taken",
  answers: "every request is answered, and truly",
  heard: "no rejection goes unheard",
  served: "who pays while everything works gets a bundle within 60 s",
  rest: "everything comes to rest",
} as const;

export type Invariant = keyof typeof INVARIANTS;

export type Violation = { invariant: Invariant; detail: string };

import { SEED_VERSIONS } from "@attestd/proof/algorand";

const SPECIFICATIONS = "https://github.com/algorandfoundation/specs/tree/";

/** The consensus versions v34 to v41, from which networks upgrade to v42 (go-algorand, `protocol/consensus.go`). */
const BEFORE_FALCON: ReadonlySet<unknown> = new Set([
  // v34 to v38.
  ...SEED_VERSIONS,
  `${SPECIFICATIONS}925a46433742afb0b51bb939354bd907fa88bf95`,
  `${SPECIFICATIONS}236dcc18c9c507d794813ab768e467ea42d1b4d9`,
  `${SPECIFICATIONS}953304de35264fc3ef91bcd05c123242015eeaed`,
]);

/** Whether the consensus version accepts Falcon-1024 signatures of transactions: v42 and later. */
export function hasFalcon(version: string | undefined): boolean {
  return version !== undefined && !BEFORE_FALCON.has(version);
}

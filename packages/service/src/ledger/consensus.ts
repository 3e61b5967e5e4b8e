const SPECIFICATIONS = "https://github.com/algorandfoundation/specs/tree/";

/** The consensus versions v34 to v41, of which networks are upgraded to v42 (go-algorand, `protocol/consensus.go`). */
const BEFORE_FALCON: ReadonlySet<string> = new Set(
  [
    "2dd5435993f6f6d65691140f592ebca5ef19ffbd",
    "433d8e9a7274b6fca703d91213e05c7e6a589e69",
    "44fa607d6051730f5264526bf3c108d51f0eadb6",
    "1ac4dd1f85470e1fb36c8a65520e1313d7dfed5e",
    "abd3d4823c6f77349fc04c3af7b1e99fe4df699f",
    "925a46433742afb0b51bb939354bd907fa88bf95",
    "236dcc18c9c507d794813ab768e467ea42d1b4d9",
    "953304de35264fc3ef91bcd05c123242015eeaed",
  ].map((commit) => SPECIFICATIONS + commit),
);

/** Whether the consensus version takes Falcon-1024 signatures of transactions: v42, and what comes after it. */
export function hasFalcon(version: string | undefined): boolean {
  return version !== undefined && !BEFORE_FALCON.has(version);
}

import type { Sandbox } from "@attestd/sandbox";

/** What is sold, each on a route of its own. */
export const SUBJECTS = ["transaction", "block", "inclusion"] as const;
export type SubjectName = (typeof SUBJECTS)[number];

/** A paid route, and the body that it takes. */
export type Request = { path: string; body: object };

/** Asks for the sample of a chain: any of Base's may be paid for on every rail. */
export function requestFor(
  { sampleTransactions: sample }: Sandbox,
  subject: SubjectName,
  chain: "algorand" | "base" = "base",
): Request {
  const txId = sample[chain];
  const height = chain === "base" ? sample.baseHeight : sample.algorandHeight;
  switch (subject) {
    case "transaction":
      return { path: "/attest", body: { txid: txId } };
    case "block":
      return { path: "/attest-block", body: { chain, height } };
    case "inclusion":
      return { path: "/prove-tx-inclusion", body: { chain, txId, height } };
  }
}

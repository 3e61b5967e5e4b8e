import type { Sandbox } from "@attestd/sandbox";

/** The subjects of attestations, each with its own route. */
export const SUBJECTS = ["transaction", "block", "inclusion"] as const;
export type SubjectName = (typeof SUBJECTS)[number];

/** A paid route and a request body for it. */
export type Request = { path: string; body: object };

/** A request for the sample of a chain. Samples of Base can be paid on every rail. */
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

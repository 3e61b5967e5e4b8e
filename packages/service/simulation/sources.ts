import { utf8 } from "@attestd/proof/encoding";
import { type ChainName, type SourceChain, SourceError, type SourceTransaction } from "../src/chains/chain.ts";
import type { Subject } from "../src/subjects/subject.ts";
import { NODES } from "./ledger-view.ts";
import type { Ask } from "./network.ts";
import type { Life } from "./scheduler.ts";

type TransactionSubject = Extract<Subject, { kind: "transaction" }>;

/** What is bought: few things, so that payments meet. */
export const SUBJECTS: readonly TransactionSubject[] = [
  { kind: "transaction", chain: "algorand", id: "SOURCEALGORAND" },
  { kind: "transaction", chain: "base", id: "0xbase1" },
  { kind: "transaction", chain: "base", id: "0xbase2" },
];
/** Nobody knows it, so it is never charged for. */
export const MISSING: TransactionSubject = { kind: "transaction", chain: "base", id: "0xmissing" };
/** In a block, and not deep enough yet. */
export const YOUNG: TransactionSubject = { kind: "transaction", chain: "base", id: "0xyoung" };

const CAIP2: Record<ChainName, string> = { algorand: "algorand:simulation", base: "eip155:8453" };

/** A chain of sources as one process reads it. Only transactions are bought here, and nobody asks for more. */
export function simulatedSource(name: ChainName, life: Life, ask: Ask): SourceChain {
  const source: Pick<SourceChain, "transaction"> = {
    transaction: (txnId, signal) =>
      ask<SourceTransaction>({
        life,
        to: "sources",
        what: "source",
        about: txnId,
        signal,
        serve(answer) {
          if (txnId === MISSING.id) throw new SourceError("source_not_found", "no such transaction");
          const level = name === "algorand" ? "finalized" : txnId === YOUNG.id ? "included" : "safe";
          answer({ chain: name, caip2: CAIP2[name], txnId, bytes: utf8(txnId), level, height: 1 });
        },
        ...NODES,
      }),
  };
  return source as SourceChain;
}

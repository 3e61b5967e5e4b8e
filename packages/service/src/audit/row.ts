import type { Call } from "../calls/call.ts";
import type { Recorded } from "./chain-index.ts";
import type { ChainPayment, Facts, Premises } from "./facts.ts";
import type { Code, Findings, Severity } from "./report.ts";

/** What one row is compared with. */
export type RowContext = {
  spans: Pick<Facts, "ledger" | "rails">;
  premises: Premises;
  findings: Findings;
};

/** A row with what the chains show of it. */
export type Joined = { call: Call; payment: ChainPayment | undefined; attestations: readonly Recorded[] };

/** Takes what is found of one row. */
export type RowReport = Record<Severity, (code: Code, message: string, txid?: string) => void>;

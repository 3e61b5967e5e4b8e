import type { Call } from "../calls/call.ts";
import type { ChainPayment } from "../payment/rails/payment-reader.ts";
import type { Recorded } from "./chain-index.ts";
import type { Facts, Premises } from "./facts.ts";
import type { Code, Findings, Severity } from "./report.ts";

/** The data with which one row is compared. */
export type RowContext = {
  spans: Pick<Facts, "ledger" | "rails">;
  premises: Premises;
  findings: Findings;
};

/** A row and its data on the chains. */
export type Joined = { call: Call; payment: ChainPayment | undefined; attestations: readonly Recorded[] };

/** Takes the findings about one row. */
export type RowReport = Record<Severity, (code: Code, message: string, txid?: string) => void>;

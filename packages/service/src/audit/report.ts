import type { CallState } from "../calls/call.ts";
import type { RailName } from "../payment/rails/rail.ts";
import type { Span } from "../providers/reading.ts";

/**
 * The meaning of a finding for the verdict. `violation`: an invariant is broken. `open`: something paid is unfinished
 * or unaccounted for, and the operator may have to act. `information`: nothing of ours is affected.
 */
export type Severity = "violation" | "open" | "information";

/** The invariants of a journal and its chains (docs/operating/day-to-day.md). */
export const INVARIANTS = {
  1: "every attestation has a payment of its own",
  2: "every payment has an attestation, and every attestation a bundle that can be fetched",
  3: "no payment is in two calls",
  4: "no call counts as unpaid while its payment is on its chain",
  5: "no bundle exists before its call is done",
  6: "every paid call ends",
} as const;

/** Every code, with its invariant. */
export const CODES = {
  attested_without_payment: 1,
  note_commitment_unknown: 1,
  note_malformed: 1,
  note_of_another_key: 1,
  attestation_moves_value: 1,
  two_attestations_for_one_payment: 1,
  two_live_attempts: 1,
  attestation_unknown_to_row: 1,
  dead_attempt_on_ledger: 1,
  attested_though_refunded: 1,
  row_paid_but_chain_disagrees: 1,
  payment_vanished: 1,
  payment_lost: undefined,
  payment_without_row: 2,
  note_of_another_request: 2,
  delivered_bundle_not_on_ledger: 2,
  confirmed_attestation_not_on_ledger: 2,
  bundle_missing: 2,
  row_unreadable: 2,
  bundle_bytes_do_not_verify: 2,
  bundle_of_another_call: 2,
  two_rows_one_key: 3,
  two_refunds_one_transfer: 6,
  row_unpaid_but_chain_disagrees: 4,
  bundle_before_done: 5,
  call_owed: 6,
  call_unfinished: 6,
  rail_not_read: undefined,
  payment_in_another_transaction: undefined,
  stranger_transfer: undefined,
  stranger_note: undefined,
} as const satisfies Record<string, keyof typeof INVARIANTS | undefined>;

export type Code = keyof typeof CODES;

export type Finding = {
  severity: Severity;
  code: Code;
  /** Payment key. */
  key?: string | undefined;
  /** Transaction id of the payment or the attestation. */
  txid?: string | undefined;
  /** One sentence. */
  message: string;
};

export const NO_COUNTS = {
  /** Rows of the journal. */
  calls: 0,
  /** Payments on a chain that have a row. */
  settled: 0,
  /** Attestation transactions that the attestor sent. */
  attested: 0,
  /** Calls whose bundle can be fetched and verifies. */
  delivered: 0,
  owed: 0,
  void: 0,
  refunded: 0,
  loss: 0,
  /** Payments on a chain in the form that we sell for, without a row. */
  unaccounted: 0,
  /** Calls whose payment or attestation lies outside the spans. */
  notRead: 0,
  /** Transfers and notes of strangers. */
  strangers: 0,
};

export type AuditReport = {
  /** `violated` when an invariant is broken; else `open` when something paid is unfinished or unaccounted for. */
  verdict: "clean" | "open" | "violated";
  spans: { ledger: Span } & { payments: Partial<Record<RailName, Span>> };
  /** `open`: unfinished calls, by state. */
  counts: typeof NO_COUNTS & { open: Partial<Record<CallState, number>> };
  /** Which invariants hold, by number. */
  invariants: Record<keyof typeof INVARIANTS, boolean>;
  findings: Finding[];
  /** How many findings of severity `information` are not listed. */
  unlisted: number;
};

/** The limit of listed findings with one code, because strangers can cause any number of them. */
const MAX_INFORMATION = 100;

/** Collects findings. Those that strangers can cause at will are counted, and listed up to a limit. */
export class Findings {
  readonly #list: Finding[] = [];
  readonly #information = new Map<Code, number>();
  #unlisted = 0;

  add(severity: Severity, code: Code, message: string, about: Pick<Finding, "key" | "txid"> = {}): void {
    if (severity === "information") {
      const before = this.#information.get(code) ?? 0;
      this.#information.set(code, before + 1);
      if (before >= MAX_INFORMATION) {
        this.#unlisted += 1;
        return;
      }
    }
    this.#list.push({ severity, code, ...about, message });
  }

  conclude(): Pick<AuditReport, "verdict" | "invariants" | "findings" | "unlisted"> {
    const RANK: Record<Severity, number> = { violation: 0, open: 1, information: 2 };
    const findings = this.#list.toSorted((a, b) => RANK[a.severity] - RANK[b.severity]);
    const has = (severity: Severity) => findings.some((finding) => finding.severity === severity);
    const broken = new Set(findings.filter(({ severity }) => severity === "violation").map(({ code }) => CODES[code]));
    const holds = (invariant: keyof typeof INVARIANTS) => !broken.has(invariant);
    return {
      verdict: has("violation") ? "violated" : has("open") ? "open" : "clean",
      invariants: { 1: holds(1), 2: holds(2), 3: holds(3), 4: holds(4), 5: holds(5), 6: holds(6) },
      findings,
      unlisted: this.#unlisted,
    };
  }
}

/** A metric, in Prometheus' conventions: base units, counters end in `_total`. */
export type Metric = {
  name: string;
  help: string;
  labels: readonly string[];
  /** Upper bounds of a histogram's buckets. */
  buckets?: readonly number[];
};

/** Buckets for an exchange with another host, in seconds. */
const EXCHANGE = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 60, 120];
/** Buckets for paid calls, in seconds: one round of the ledger takes some three. */
const CALL = [0.1, 0.25, 0.5, 1, 2.5, 5, 7.5, 10, 15, 30, 60, 120, 300, 1_800];
/** Buckets for a commit, in seconds; most of it is an fsync. */
const COMMIT = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5];

/** Every counter. Labels have few values: names of settings, endpoints and states, never what a caller sends. */
export const COUNTERS = {
  calls: {
    name: "attestd_calls_total",
    help: "Paid calls that ended, by outcome: done, void, owed or loss. Refunds are an operator's commands, which attestd audit counts.",
    labels: ["rail", "subject", "outcome"],
  },
  payments: {
    name: "attestd_payments_total",
    help: "Requests with a payment, over any transport, by rail and answer: delivered, payment_required, or a problem's code.",
    labels: ["rail", "answer"],
  },
  transitions: {
    name: "attestd_call_transitions_total",
    help: "Transitions of paid calls that were committed, by the state that they led to.",
    labels: ["rail", "state"],
  },
  settlements: {
    name: "attestd_settlements_total",
    help: "Settlements that were sent, by the facilitator's answer: success, pending, refused, failed if it gave none, or not_awaited if the chain showed the payment first.",
    labels: ["rail", "facilitator", "outcome"],
  },
  upstreamRequests: {
    name: "attestd_upstream_requests_total",
    help: "Requests to nodes and facilitators: answered, failed, or not_sent because the circuit breaker was open.",
    labels: ["upstream", "outcome"],
  },
  conflicts: {
    name: "attestd_provider_conflicts_total",
    help: "Questions to which providers gave contradictory answers: at least one of them is wrong.",
    labels: [],
  },
  minorityAnswers: {
    name: "attestd_provider_minority_answers_total",
    help: "Answers that were taken from fewer providers than a majority, as provider_quorum allows: one lying node may have given them.",
    labels: [],
  },
  unreadHeaders: {
    name: "attestd_unread_headers_total",
    help: "Block headers that do not have their hash and were refused: unknown_field if the node's answer has members that may be fields of a new fork, else other.",
    labels: ["reason"],
  },
  evidence: {
    name: "attestd_evidence_total",
    help: "Steps of evidence: a record or a source is included, or absent; a block in which they stand is whole, or impossible, or removed (waiting); a round of one of the three is unanswered, wrong or forgotten, and is tried again.",
    labels: ["of", "outcome"],
  },
  pruningFailures: {
    name: "attestd_journal_pruning_failures_total",
    help: "Times that calls older than journal.retention_days could not be pruned: they stay as they are.",
    labels: [],
  },
  journalLosses: {
    name: "attestd_journal_losses_total",
    help: "Times that this replica found the journal to lack commits that it had confirmed.",
    labels: [],
  },
  pruned: {
    name: "attestd_journal_pruned_calls_total",
    help: "Calls that became older than journal.retention_days and were pruned.",
    labels: [],
  },
  verifications: {
    name: "attestd_verifications_total",
    help: "Bundles to verify, by type and verdict: verified, rejected, or undecided where it could not be found out.",
    labels: ["type", "verdict"],
  },
  signatures: {
    name: "attestd_signatures_total",
    help: "Signatures requested from the attestor's signer, by key (pq or account) and outcome: signed, unreachable, late, throttled, denied, refused, wrong, or not_sent after repeated failures.",
    labels: ["key", "signer", "outcome"],
  },
  spans: {
    name: "attestd_trace_spans_total",
    help: "Spans of traces, sent to their receiver or failed to be.",
    labels: ["outcome"],
  },
  unread: {
    name: "attestd_metric_read_failures_total",
    help: "Times that a metric could not be read within a second, and was left out of a scrape.",
    labels: ["metric"],
  },
  answers: {
    name: "attestd_http_answers_total",
    help: "Answers to HTTP requests, by endpoint and status; payment is sent where one came with the request. A call over mcp or a2a counts as HTTP would answer it, in addition to the 200 of its message to /mcp or /a2a.",
    labels: ["transport", "endpoint", "status", "payment"],
  },
} as const satisfies Record<string, Metric>;

export const HISTOGRAMS = {
  callSeconds: {
    name: "attestd_call_duration_seconds",
    help: "From the commit that begins a paid call to the commit of its bundle.",
    labels: ["rail", "subject"],
    buckets: CALL,
  },
  stageSeconds: {
    name: "attestd_call_stage_duration_seconds",
    help: "Time of one step of a paid call: verify, source, settle, reconcile, sign, submit or seal.",
    labels: ["stage"],
    buckets: CALL,
  },
  facilitatorSeconds: {
    name: "attestd_facilitator_request_duration_seconds",
    help: "Time until a facilitator has answered, or has failed to.",
    labels: ["facilitator", "operation"],
    buckets: EXCHANGE,
  },
  upstreamSeconds: {
    name: "attestd_upstream_request_duration_seconds",
    help: "Time of a sent request to a node or a facilitator; requests that wait for a new round are not counted.",
    labels: ["upstream"],
    buckets: EXCHANGE,
  },
  signatureSeconds: {
    name: "attestd_signature_duration_seconds",
    help: "Time until the attestor's signer has answered, or has failed to, with the verification of its signature.",
    labels: ["key", "signer"],
    buckets: COMMIT,
  },
  commitSeconds: {
    name: "attestd_journal_commit_duration_seconds",
    help: "Time of a commit of the journal, its fsync included, as a paid call waits for it.",
    labels: ["operation"],
    buckets: COMMIT,
  },
  transactionSeconds: {
    name: "attestd_journal_transaction_duration_seconds",
    help: "Time of a transaction of the journal that wrote something, from its begin to its commit, the fsync included.",
    labels: [],
    buckets: COMMIT,
  },
} as const satisfies Record<string, Metric>;

/** The values that are read whenever the metrics are read. */
export const GAUGES = {
  build: {
    name: "attestd_build_info",
    help: "1, with the version of this service and its commit as labels.",
    labels: ["version", "revision"],
  },
  ready: { name: "attestd_ready", help: "1 while /ready answers 200.", labels: [] },
  signerUsable: {
    name: "attestd_signer_usable",
    help: "1 while the attestor's signer signs with the key, pq or account.",
    labels: ["key", "signer"],
  },
  signaturesWaiting: {
    name: "attestd_signatures_waiting",
    help: "Signatures requested from the attestor's signer that have no answer yet, including requests that wait to be sent.",
    labels: ["key", "signer"],
  },
  railOpen: { name: "attestd_rail_open", help: "1 while the rail is offered.", labels: ["rail"] },
  inFlight: {
    name: "attestd_calls_in_flight",
    help: "Paid calls that this replica runs, by state; finished calls are not counted.",
    labels: ["state"],
  },
  oldest: {
    name: "attestd_oldest_call_seconds",
    help: "Age of the oldest paid call of this replica that has no answer yet, by whether its payment is proved on its chain or still unproved; 0 without one.",
    labels: ["payment"],
  },
  oldestEvidence: {
    name: "attestd_oldest_evidence_seconds",
    help: "Since when the oldest delivered attestation waits for its evidence, of all replicas; 0 without one.",
    labels: [],
  },
  affordable: {
    name: "attestd_attestations_affordable",
    help: "Attestations that the attestor's account can pay for, as last read.",
    labels: [],
  },
  round: { name: "attestd_ledger_round", help: "The latest round of the ledger that was read.", labels: [] },
  roundAge: {
    name: "attestd_ledger_round_age_seconds",
    help: "Time since the latest round of the ledger was read.",
    labels: [],
  },
  roundsBehind: {
    name: "attestd_ledger_rounds_behind",
    help: "Rounds that a node is known to have and that were not read yet.",
    labels: [],
  },
  breakers: {
    name: "attestd_upstream_breakers_open",
    help: "Circuit breakers that are open, by upstream.",
    labels: ["upstream"],
  },
  commitsWaiting: {
    name: "attestd_journal_commits_waiting",
    help: "Commits of paid calls that the journal has not answered yet.",
    labels: ["operation"],
  },
  journalFree: {
    name: "attestd_journal_free_bytes",
    help: "Bytes that are free for the journal, if known.",
    labels: [],
  },
  journalSize: { name: "attestd_journal_size_bytes", help: "Bytes that the journal takes.", labels: [] },
  workerThreads: {
    name: "attestd_worker_threads",
    help: "Threads that a worker pool has started.",
    labels: ["pool"],
  },
  workerJobs: {
    name: "attestd_worker_jobs",
    help: "Jobs that a worker pool has or that wait for it.",
    labels: ["pool"],
  },
} as const satisfies Record<string, Metric>;

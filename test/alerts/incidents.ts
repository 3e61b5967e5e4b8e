import type { Stage } from "./stage.ts";

/** A fault, the alerts that it must fire, and its end, which must end them. */
export type Incident = {
  what: string;
  how: string;
  alerts: readonly string[];
  /** Why it cannot be made here. */
  skip?: (stage: Stage) => string | undefined;
  begin: (stage: Stage) => Promise<unknown>;
  end: (stage: Stage) => Promise<unknown>;
};

const ENOUGH = 900_000n;

/** A receipt that states the other outcome. */
const otherOutcome = (body: Buffer): Buffer => {
  const answer = JSON.parse(body.toString("utf8"));
  const { status } = answer.result ?? {};
  return status === undefined
    ? body
    : Buffer.from(
        JSON.stringify({ ...answer, result: { ...answer.result, status: status === "0x1" ? "0x0" : "0x1" } }),
      );
};

/** Headers whose hashes are of one member more, in one answer or a batch of them. */
const laterHeaders = (body: Buffer): Buffer => {
  const answers = JSON.parse(body.toString("utf8"));
  const later = ({ result, ...answer }: { result?: { hash?: string } | null }) => ({
    ...answer,
    result: result?.hash === undefined ? result : { ...result, stateRoot: result.hash, rootOfAFork: "0x1" },
  });
  return Buffer.from(JSON.stringify(Array.isArray(answers) ? answers.map(later) : later(answers)));
};

export const INCIDENTS: readonly Incident[] = [
  {
    what: "the facilitator goes away",
    how: "it refuses connections",
    alerts: ["AttestdRailClosed", "AttestdNotReady"],
    begin: ({ proxies }) => proxies.facilitator.down(),
    end: ({ proxies }) => proxies.facilitator.up(),
  },
  {
    what: "the account is low on ALGO",
    how: "3,000 attestations are left",
    alerts: ["AttestdAlgoLow"],
    begin: (stage) => stage.affordOnly(3_000n),
    end: (stage) => stage.affordOnly(ENOUGH),
  },
  {
    what: "the account is out of ALGO",
    how: "20 attestations are left, which the buyers use up",
    alerts: ["AttestdAlgoOut", "AttestdAlgoLow", "AttestdNotReady"],
    begin: (stage) => stage.affordOnly(20n),
    end: (stage) => stage.affordOnly(ENOUGH),
  },
  {
    what: "two nodes of Base contradict one another",
    how: "one states the other outcome in every receipt",
    alerts: ["AttestdProvidersContradict"],
    begin: async ({ proxies }) =>
      proxies.secondBase.add({
        match: { rpc: "eth_getTransactionReceipt" },
        fault: { kind: "wrong", change: (response) => ({ ...response, body: otherOutcome(response.body) }) },
      }),
    end: async ({ proxies }) => proxies.secondBase.heal(),
  },
  {
    what: "a node of Base answers alone",
    how: "the service is started with provider_quorum = 1, and the other node refuses connections",
    alerts: ["AttestdTooFewWitnesses"],
    begin: async (stage) => {
      await stage.restartService({ provider_quorum: 1 });
      await stage.proxies.secondBase.down();
    },
    end: async (stage) => {
      await stage.proxies.secondBase.up();
      await stage.restartService();
    },
  },
  {
    what: "the headers of Base have a new field",
    how: "a node's headers have a member that is not known, and do not lead to their hashes",
    alerts: ["AttestdHeadersUnread"],
    begin: async ({ proxies }) =>
      proxies.secondBase.add({
        match: { body: '"eth_getBlockByNumber"' },
        fault: { kind: "wrong", change: (response) => ({ ...response, body: laterHeaders(response.body) }) },
      }),
    end: async ({ proxies }) => proxies.secondBase.heal(),
  },
  {
    what: "the ledger refuses attestations",
    how: "algod rejects every transaction",
    alerts: ["AttestdCallOwed"],
    begin: async ({ proxies }) =>
      proxies.algod.add({
        match: { method: "POST", path: /^\/v2\/transactions$/ },
        fault: { kind: "error", side: "before", status: 400, body: '{"message":"it does not like this note"}' },
      }),
    end: async ({ proxies }) => proxies.algod.heal(),
  },
  {
    what: "the disk is low",
    how: "128 MiB are written beside the journal",
    alerts: ["AttestdDiskLow"],
    skip: ({ noDisk }) => noDisk,
    begin: (stage) => stage.fillDisk(),
    end: (stage) => stage.emptyDisk(),
  },
  {
    what: "algod goes away",
    how: "it refuses connections",
    alerts: ["AttestdLedgerSilent", "AttestdNotReady"],
    begin: ({ proxies }) => proxies.algod.down(),
    end: ({ proxies }) => proxies.algod.up(),
  },
  {
    what: "the service is killed",
    how: "SIGKILL, then a start on the same journal",
    alerts: ["AttestdDown"],
    begin: (stage) => stage.stopService(),
    end: (stage) => stage.startService(),
  },
];

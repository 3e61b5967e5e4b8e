import {
  type BundleBlock,
  type BundleSource,
  type BundleType,
  type ChainFindings,
  conclusionOf,
  type Finding,
  mayAskChain,
  type Statement,
  type VerifyReport,
  withChain,
} from "@attestd/proof";
import { fromUtf8, toBase64 } from "@attestd/proof/encoding";
import { attempt } from "@attestd/proof/errors";
import type { BlockOfTransaction } from "../chains/chain.ts";
import type { RecordedAttestation } from "../ledger/recorded.ts";
import { Problem } from "../lib/problems.ts";
import type { ChainRecords } from "./chain-records.ts";
import type { Claims } from "./claims.ts";
import type { VerificationPool } from "./worker-pool.ts";

export type VerifierOptions = {
  pool: Pick<VerificationPool, "verify">;
  records: ChainRecords;
  /** The ledger's genesis hash, base64, 32 bytes. */
  genesisHash: string;
};

export type Verifier = ReturnType<typeof createVerifier>;

/** A record that its chain certainly does not have. `check`: the check that it fails. */
type Missing = { missing: string; check: "chainSource" | "chainAttest" };

/** The result of verifying a bundle: its report, verified or not; or why there is none. */
export type Verdict = { report: VerifyReport } | Missing | { notJson: string };

export function createVerifier({ pool, records, genesisHash }: VerifierOptions) {
  return {
    /**
     * Verifies a bundle.
     * @param body the bundle's JSON, UTF-8
     * @param types the accepted types of bundle
     * @param options.chain whether a bundle that is valid offline is also compared with its source chain and the ledger
     * @throws Problem `over_capacity`; ProviderError, or SourceError `source_unreadable`, when a chain cannot be read
     */
    async verify(body: Uint8Array, types: readonly BundleType[], { chain }: { chain: boolean }): Promise<Verdict> {
      const verified = await pool.verify(body, types, chain);
      if ("notJson" in verified) return verified;
      const { report, claims } = verified;
      if (!chain || !claims || !mayAskChain(report)) return { report };
      const [source, attestation] = await Promise.all([findSource(claims), findAttestation(claims)]);
      if ("missing" in source) return source;
      if ("missing" in attestation) return attestation;
      return { report: withChain(report, { ...source, ...attestation }) };
    },
  };

  /** Makes the check `chainSource`; none when the bundle's chain is not configured. */
  async function findSource({
    type,
    chain,
    source,
    block,
    statement,
  }: Claims): Promise<Pick<ChainFindings, "chainSource"> | Missing> {
    if (!records.knows(chain)) return {};
    const [ofSource, ofBlock] = await Promise.all([
      source ? compareTransaction(source) : [],
      block ? compareBlock(block) : [],
    ]);
    if ("missing" in ofSource) return ofSource;
    return "missing" in ofBlock ? ofBlock : { chainSource: [...ofSource, ...ofBlock] };

    async function compareTransaction({ txnId, txnBytesBase64 }: BundleSource): Promise<Finding[] | Missing> {
      const transaction = await records.transaction(chain, txnId);
      if (!transaction) return { missing: `The source transaction ${txnId}`, check: "chainSource" };
      const { bytes, block: actual, succeeded } = transaction;
      return [
        ...differing("/source/txnBytesBase64", txnBytesBase64, toBase64(bytes)),
        ...(block ? differing("/block/height", block.height, actual.height) : []),
        ...(statement ? compareStatement(statement, actual, succeeded, type) : []),
      ];
    }

    async function compareBlock({ height, headerBase64 }: BundleBlock): Promise<Finding[] | Missing> {
      const header = await records.header(chain, height);
      if (!header) return { missing: `The block ${height}`, check: "chainSource" };
      return differing("/block/headerBase64", headerBase64, toBase64(header));
    }
  }

  /** Makes the check `chainAttest`, with the time of the record; none when the ledger is not configured. */
  async function findAttestation(claims: Claims): Promise<ChainFindings | Missing> {
    const { txnId } = claims.attest;
    if (!records.knows("algorand")) return {};
    const found = await records.attestation(txnId);
    if (!found) return { missing: `The attestation transaction ${txnId}`, check: "chainAttest" };
    const chainAttest = attestationFindings(claims, found, genesisHash);
    const { time } = found;
    return { chainAttest, ...(time !== undefined && { recordedAt: new Date(time * 1000).toISOString() }) };
  }
}

/** The pointers to a statement in a note, and in a batch item. */
const IN_NOTE = { hash: "/attest/note/b", height: "/attest/note/n", time: "/attest/note/u" };
const IN_ITEM = { hash: "/statement/block/hash", height: "/statement/block/height", time: "/statement/block/time" };

/** Compares the statement about a transaction with its chain. */
function compareStatement(
  { block, outcome }: Statement,
  actual: BlockOfTransaction,
  succeeded: boolean | undefined,
  type: BundleType,
): Finding[] {
  const isItem = type === "batch-item";
  const at = isItem ? IN_ITEM : IN_NOTE;
  const shown = succeeded ? "succeeded" : "failed";
  const ofNote = () => differing("/attest/note/s", outcome === "succeeded" ? 1 : 0, succeeded ? 1 : 0);
  const ofOutcome = () => (isItem ? differing("/statement/outcome", outcome, shown) : ofNote());
  return [
    ...differing(at.hash, block.hash, actual.hash),
    ...differing(at.height, block.height, actual.height),
    // A chain without outcomes has none here, and states none, as was checked offline.
    ...(succeeded === undefined ? [] : ofOutcome()),
    ...differing(at.time, block.time, actual.time),
  ];
}

/** @param computed undefined if the bytes do not decode */
function differing<T extends string | number>(pointer: string, stated: T, computed: T | undefined): Finding[] {
  if (stated === computed) return [];
  return [{ pointer, stated: String(stated), ...(computed !== undefined && { computed: String(computed) }) }];
}

function attestationFindings(
  { type, attest, attestor }: Claims,
  found: RecordedAttestation,
  genesisHash: string,
): Finding[] {
  const note = attempt("malformed", () => fromUtf8(found.note));
  const facts: [holds: boolean, message: string][] = [
    [found.type === "pay", `a transaction of type ${found.type}`],
    [found.amount === 0n, `moves ${found.amount} microAlgos`],
    [!found.closesOrRekeys, "closes or rekeys its account"],
    [found.genesisHash === genesisHash, `of the ledger ${found.genesisHash}`],
  ];
  const faults: Finding[] = [
    ...facts.filter(([holds]) => !holds).map(([, message]) => ({ pointer: "/attest/txnId", message })),
    ...differing("/attestor/algorandAddress", attestor.algorandAddress, found.sender),
    ...differing("/attest/note", attest.note, note),
    ...differing("/attest/round", attest.round, found.round),
  ];
  return type === "batch-item" ? faults.map((fault) => ({ ...fault, pointer: `/batch${fault.pointer}` })) : faults;
}

/** Returns the report of a verified bundle, for transports. @throws Problem that answers any other verdict */
export function verifiedReport(verdict: Verdict): VerifyReport {
  if ("report" in verdict && verdict.report.verified) return verdict.report;
  throw problemOfVerdict(verdict);
}

/** Returns the problem that answers a verdict; undefined for a verified bundle. */
export function problemOfVerdict(verdict: Verdict): Problem | undefined {
  if ("notJson" in verdict) return new Problem("body_not_json", verdict.notJson);
  if ("missing" in verdict) {
    const { missing, check } = verdict;
    return new Problem("record_not_found", `${missing} is not on its chain.`, { members: { check } });
  }
  const { report } = verdict;
  if (report.verified) return undefined;
  const checks = [...new Set(report.failures.map(({ check }) => check))].join(", ");
  const where =
    conclusionOf(report) === "elsewhere" ? " It is made for another ledger, such as another sandbox's." : "";
  return new Problem("bundle_rejected", `Not verified: ${checks}.${where}`, { members: { report } });
}

import {
  type Bundle,
  type BundleBlock,
  type BundleSource,
  type BundleType,
  parseBundle,
  sourceChain,
} from "@attestd/proof/bundle";
import { fromUtf8, toBase64 } from "@attestd/proof/encoding";
import { parseJson } from "@attestd/proof/json";
import type { Finding, VerifyReport } from "@attestd/proof/report";
import { type ChainFindings, mayAskChain, withChain } from "@attestd/proof/verify";
import { type ChainName, type SourceChain, SourceError } from "./chains/chain.ts";
import type { Examiner } from "./examiner.ts";
import type { Ledger, RecordedAttestation } from "./ledger/ledger.ts";
import { Problem } from "./problems.ts";
import { ProviderError } from "./providers/provider.ts";

export type VerifierOptions = {
  examiner: Pick<Examiner, "examine">;
  chains: ReadonlyMap<ChainName, SourceChain>;
  ledger: Pick<Ledger, "genesisHash" | "recorded">;
  /** Of the look-ups of one bundle, in ms. */
  deadlineMs: number;
};

/** Verifies bundles for the doors. */
export interface Verifier {
  /**
   * Verifies a bundle without asking anyone.
   *
   * @param body the bundle's JSON, UTF-8
   * @param type the only type of bundle that is taken
   * @returns the report of a bundle that is verified
   * @throws Problem `body_not_json`; `bundle_rejected` with the report
   */
  offline(body: Uint8Array, type: BundleType): Promise<VerifyReport>;

  /**
   * Verifies a bundle, and then against its source chain and the ledger. What fails offline is answered before any chain
   * is asked.
   *
   * @throws Problem also `record_not_found`, saying what is missing; `providers_unavailable`, `providers_conflict`
   */
  online(body: Uint8Array, type: BundleType): Promise<VerifyReport>;
}

export function createVerifier({ examiner, chains, ledger, deadlineMs }: VerifierOptions): Verifier {
  return {
    async offline(body, type) {
      return accepted(await examine(body, type));
    },
    async online(body, type) {
      const report = await examine(body, type);
      if (!mayAskChain(report)) throw rejected(report);
      const bundle = parseBundle(parseJson(body), type);
      const signal = AbortSignal.timeout(deadlineMs);
      const [chainSource, attestation] = await Promise.all([
        findSource(bundle, signal),
        findAttestation(bundle, signal),
      ]);
      return accepted(withChain(report, { ...(chainSource && { chainSource }), ...attestation }));
    },
  };

  async function examine(body: Uint8Array, type: BundleType): Promise<VerifyReport> {
    const examined = await examiner.examine(body, type);
    if ("notJson" in examined) throw new Problem("body_not_json", examined.notJson);
    return examined.report;
  }

  /** Check `chainSource`; undefined when the bundle's chain is not configured here. */
  async function findSource(bundle: Bundle, signal: AbortSignal): Promise<Finding[] | undefined> {
    const chain = chains.get("block" in bundle ? bundle.block.chain : sourceChain(bundle.source));
    if (!chain) return undefined;
    const block = "block" in bundle ? bundle.block : undefined;
    const found = await Promise.all([
      "source" in bundle ? compareTransaction(chain, bundle.source, block, signal) : [],
      block ? compareBlock(chain, block, signal) : [],
    ]);
    return found.flat();
  }

  /** Check `chainAttest`, and when what it finds was recorded. */
  async function findAttestation(bundle: Bundle, signal: AbortSignal): Promise<ChainFindings> {
    const { txnId } = bundle.attest;
    const found = await lookUp(() => ledger.recorded(txnId, signal));
    if (!found) throw missing(`The attestation transaction ${txnId}`, "chainAttest");
    const chainAttest = attestationFindings(bundle, found, ledger.genesisHash);
    const { time } = found;
    return { chainAttest, ...(time !== undefined && { recordedAt: new Date(time * 1000).toISOString() }) };
  }
}

/** @param block in which it should be, where the bundle says so */
async function compareTransaction(
  chain: SourceChain,
  { txnId, txnBytesBase64 }: BundleSource,
  block: BundleBlock | undefined,
  signal: AbortSignal,
): Promise<Finding[]> {
  const found = await lookUp(() => chain.transaction(txnId, signal));
  if (!found) throw missing(`The source transaction ${txnId}`, "chainSource");
  return [
    ...differing("/source/txnBytesBase64", txnBytesBase64, toBase64(found.bytes)),
    ...(block ? differing("/block/height", String(block.height), String(found.height)) : []),
  ];
}

async function compareBlock(chain: SourceChain, block: BundleBlock, signal: AbortSignal): Promise<Finding[]> {
  const found = await lookUp(() => chain.block(block.height, signal));
  if (!found) throw missing(`The block ${block.height}`, "chainSource");
  return differing("/block/headerBase64", block.headerBase64, toBase64(found.header));
}

function differing(pointer: string, stated: string, computed: string): Finding[] {
  return stated === computed ? [] : [{ pointer, stated, computed }];
}

function attestationFindings({ attest, attestor }: Bundle, found: RecordedAttestation, genesisHash: string): Finding[] {
  const note = noteText(found.note);
  const facts: [holds: boolean, finding: Finding][] = [
    [found.type === "pay", { pointer: "/attest/txnId", message: `a transaction of type ${found.type}` }],
    [found.amount === 0n, { pointer: "/attest/txnId", message: `moves ${found.amount} microAlgos` }],
    [!found.closesOrRekeys, { pointer: "/attest/txnId", message: "closes or rekeys its account" }],
    [found.genesisHash === genesisHash, { pointer: "/attest/txnId", message: `of the ledger ${found.genesisHash}` }],
    [
      found.sender === attestor.algorandAddress,
      { pointer: "/attestor/algorandAddress", stated: attestor.algorandAddress, computed: found.sender },
    ],
    [
      note === attest.note,
      { pointer: "/attest/note", stated: attest.note, ...(note !== undefined && { computed: note }) },
    ],
    [
      found.round === attest.round,
      { pointer: "/attest/round", stated: String(attest.round), computed: String(found.round) },
    ],
  ];
  return facts.filter(([holds]) => !holds).map(([, finding]) => finding);
}

function noteText(note: Uint8Array): string | undefined {
  try {
    return fromUtf8(note);
  } catch {
    return undefined;
  }
}

/** @returns undefined when there is surely no such transaction */
async function lookUp<T>(ask: () => Promise<T | undefined>): Promise<T | undefined> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof SourceError && error.code !== "source_unreadable") return undefined;
    if (!(error instanceof ProviderError || error instanceof SourceError)) throw error;
    const code = error instanceof ProviderError ? error.code : "providers_conflict";
    throw new Problem(code, "The chain cannot be asked now; the bundle may be verified offline.", {
      retryAfter: 10,
      cause: error,
    });
  }
}

function accepted(report: VerifyReport): VerifyReport {
  if (!report.verified) throw rejected(report);
  return report;
}

function rejected(report: VerifyReport): Problem {
  const checks = [...new Set(report.failures.map(({ check }) => check))].join(", ");
  return new Problem("bundle_rejected", `Not verified: ${checks}.`, { members: { report } });
}

function missing(what: string, check: "chainSource" | "chainAttest"): Problem {
  return new Problem("record_not_found", `${what} is not on its chain.`, { members: { check } });
}

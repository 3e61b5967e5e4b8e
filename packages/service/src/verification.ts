import { parseProofBundle, sourceChain } from "@attestd/proof/bundle";
import { equalBytes, fromBase64, fromUtf8, toBase64 } from "@attestd/proof/encoding";
import { JsonError, parseJson } from "@attestd/proof/json";
import type { Finding, VerifyReport } from "@attestd/proof/report";
import type { Crypto } from "@attestd/proof/signature";
import type { KeyHistory } from "@attestd/proof/trust";
import { mayAskChain, verify, withChain } from "@attestd/proof/verify";
import { type ChainName, type SourceChain, SourceError } from "./chains/chain.ts";
import type { Ledger, RecordedAttestation } from "./ledger/ledger.ts";
import { Problem } from "./problems.ts";
import { ProviderError } from "./providers/provider.ts";

export type VerifierOptions = {
  /** The keys that we trust: our own. */
  history: KeyHistory;
  crypto: Crypto;
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
   * @returns the report of a bundle that is verified
   * @throws Problem `body_not_json`; `bundle_rejected` with the report
   */
  offline(body: Uint8Array): VerifyReport;

  /**
   * Verifies a bundle, and then against its source chain and the ledger. What fails offline is answered before any chain
   * is asked.
   *
   * @throws Problem also `record_not_found`, saying what is missing; `providers_unavailable`, `providers_conflict`
   */
  online(body: Uint8Array): Promise<VerifyReport>;
}

export function createVerifier({ history, crypto, chains, ledger, deadlineMs }: VerifierOptions): Verifier {
  return {
    offline(body) {
      return accepted(examine(body));
    },
    async online(body) {
      const report = examine(body);
      if (!mayAskChain(report)) throw rejected(report);
      const bundle = parseProofBundle(parseJson(body));
      const signal = AbortSignal.timeout(deadlineMs);
      const [chainSource, chainAttest] = await Promise.all([
        findSource(bundle.source, signal),
        findAttestation(bundle, signal),
      ]);
      return accepted(withChain(report, { ...(chainSource && { chainSource }), chainAttest }));
    },
  };

  function examine(body: Uint8Array): VerifyReport {
    try {
      return verify(body, { trust: history, crypto });
    } catch (error) {
      if (error instanceof JsonError) throw new Problem("body_not_json", error.message);
      throw error;
    }
  }

  /** Check `chainSource`; undefined when the bundle's chain is not configured here. */
  async function findSource(source: Bundle["source"], signal: AbortSignal): Promise<Finding[] | undefined> {
    const chain = chains.get(sourceChain(source));
    if (!chain) return undefined;
    const found = await lookUp(() => chain.transaction(source.txnId, signal));
    if (!found) throw missing(`The source transaction ${source.txnId}`, "chainSource");
    if (equalBytes(found.bytes, fromBase64(source.txnBytesBase64))) return [];
    return [{ pointer: "/source/txnBytesBase64", stated: source.txnBytesBase64, computed: toBase64(found.bytes) }];
  }

  /** Check `chainAttest`. */
  async function findAttestation(bundle: Bundle, signal: AbortSignal): Promise<Finding[]> {
    const { txnId } = bundle.attest;
    const found = await lookUp(() => ledger.recorded(txnId, signal));
    if (!found) throw missing(`The attestation transaction ${txnId}`, "chainAttest");
    return attestationFindings(bundle, found, ledger.genesisHash);
  }
}

type Bundle = ReturnType<typeof parseProofBundle>;

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

import { mayAskChain, type VerifyReport, withChain } from "@attestd/proof";
import { ALGORAND_MAINNET, ALGORAND_PUBLIC_NETWORKS, algorandCaip2 } from "@attestd/proof/algorand";
import { fromBase64 } from "@attestd/proof/encoding";
import type { z } from "zod";
import { findInRound } from "../chains/algorand/block-work.ts";
import { AlgorandSource } from "../chains/algorand/source.ts";
import type { SourceChain } from "../chains/chain.ts";
import { SOURCE_CHAINS } from "../chains/registry.ts";
import type { UpstreamNode } from "../config/formats.ts";
import { Reference } from "../config/references.ts";
import { systemClock } from "../lib/clock.ts";
import { createBulkhead } from "../lib/workers/bulkhead.ts";
import { Algod } from "../providers/algod.ts";
import type { Location } from "../providers/algorand-nodes.ts";
import { Indexer } from "../providers/indexer.ts";
import { unavailable } from "../providers/provider.ts";
import { createChainRecords } from "./chain-records.ts";
import { type Claims, claimsIn } from "./claims.ts";
import { createVerifier } from "./verifier.ts";

/** A verifier's own nodes. Nothing is checked on a chain without one. */
export type OwnNodes = {
  /** The ledger's node. Without an indexer it must keep the rounds that the bundles name. */
  algod?: UpstreamNode | undefined;
  indexer?: UpstreamNode | undefined;
  /** URLs of JSON-RPC nodes by chain name, such as `base`. */
  rpc: Readonly<Record<string, string>>;
};

/** The bulkhead. These nodes belong to the verifier, so the rate may be high. */
const LOOK_UPS = { maxActive: 4, maxWaiting: 64, perSecond: 100 };
const DEADLINE_MS = 30_000;

/**
 * Opens the online checks for a verifier that asks no attestd service: the service's own code, on the verifier's nodes.
 * @param ledger CAIP-2 of the trusted ledger, which the algod must be on
 * @throws ProviderError when the algod does not answer, or is on another ledger
 */
export async function openOwnNodes({ algod, indexer, rpc }: OwnNodes, ledger: string) {
  const genesisHash = algod ? await genesisOf(algod, ledger) : "";
  const rules = { onConflict: () => undefined };
  /** The rounds that the current bundle names for its transactions. */
  let rounds: ReadonlyMap<string, number> = new Map();
  const chains = new Map<string, SourceChain>();
  let asLedger: Pick<AlgorandSource, "find"> = { find: () => Promise.reject(unavailable("no algod")) };
  // In a sandbox, recordings of these networks are sources.
  const accept = ledger === ALGORAND_MAINNET ? [] : [...ALGORAND_PUBLIC_NETWORKS];

  if (algod) {
    const node = new Algod(algod, genesisHash);
    const nodes = { algods: [node], indexers: indexer ? [new Indexer(indexer)] : [], rules };
    const locate = indexer ? undefined : (id: string, ends: AbortSignal) => findThere(node, id, rounds.get(id), ends);
    const source = new AlgorandSource({ nodes, caip2: ledger, accept, locate });
    chains.set("algorand", source);
    asLedger = source;
  }
  const kinds = SOURCE_CHAINS.filter(({ settings }) => settings && Object.hasOwn(rpc, settings.name));
  const own = new Map<z.ZodObject, unknown>();
  for (const { settings } of kinds)
    if (settings) own.set(settings.own, settings.own.parse({ rpc: [new Reference(rpc[settings.name] ?? "")] }));
  const settings = {
    algorand: { genesisHash, caip2: ledger, algod: [], indexer: [] },
    own,
    extraSourceChains: accept,
  };
  for (const kind of kinds) {
    const nodes = kind.connect(settings, rules);
    if (nodes) chains.set(kind.format.name, kind.open(nodes, settings, {}));
  }

  const records = createChainRecords({
    chains,
    ledger: asLedger,
    bulkhead: createBulkhead({ ...LOOK_UPS, clock: systemClock }),
    deadlineMs: DEADLINE_MS,
  });

  return {
    /**
     * Adds the online checks to a report, one bundle after the other. Checks on chains without a node stay
     * `not_checked`.
     * @param bundle the JSON of the same bundle, UTF-8
     * @throws ProviderError or SourceError when a node gave no answer, or an inconclusive one: the offline report
     *   remains valid
     */
    async compare(bundle: Uint8Array, report: VerifyReport): Promise<VerifyReport> {
      if (!mayAskChain(report)) return report;
      const claims = claimsIn(bundle, report);
      rounds = roundsIn(claims);
      const pool = { verify: async () => ({ report, claims }) };
      const verifier = createVerifier({ pool, records, genesisHash });
      const verdict = await verifier.verify(bundle, [report.type], { chain: true });
      if ("report" in verdict) return verdict.report;
      return "missing" in verdict ? withChain(report, { [verdict.check]: [{ message: "not found" }] }) : report;
    },
  };
}

/**
 * Opens a verifier's own node for collecting evidence (`collectEvidence`).
 * @param ledger CAIP-2 of the bundles' ledger, which the node must be on
 * @throws ProviderError when it does not answer, or is on another ledger
 */
export async function openEvidenceNode(algod: UpstreamNode, ledger: string) {
  // Loaded only for evidence, because it includes the verification of Falcon signatures.
  const { collectEvidence } = await import("../ledger/evidence/from-node.ts");
  const node = new Algod(algod, await genesisOf(algod, ledger));
  return {
    name: node.name,
    collect: (bundle: Uint8Array) => collectEvidence(bundle, node, systemClock.timeout(DEADLINE_MS)),
  };
}

export type OwnNodesCheck = Awaited<ReturnType<typeof openOwnNodes>>;

async function genesisOf(node: UpstreamNode, ledger: string): Promise<string> {
  const genesisHash = await Algod.genesisHash(node, systemClock.timeout(DEADLINE_MS));
  const found = algorandCaip2(fromBase64(genesisHash));
  if (found === ledger) return genesisHash;
  throw unavailable(`${new URL(node.url).host} is on ${found}, not on ${ledger}`);
}

/** Looks for a transaction in the round that the bundle names, if there is no indexer to find it. */
async function findThere(
  algod: Algod,
  txnId: string,
  round: number | undefined,
  signal: AbortSignal,
): Promise<Location | undefined> {
  if (round === undefined) throw unavailable(`the bundle names no round of ${txnId}: an indexer must find it`);
  if ((await algod.lastRound(signal)) < round) throw unavailable(`${algod.name} has no round ${round} yet`);
  const block = await algod.block(round, signal);
  if (block === undefined)
    throw unavailable(`${algod.name} does not keep round ${round}: an archival node does, or an indexer finds it`);
  return algod.decode(() => findInRound(block, round, txnId)).kind === "missing" ? undefined : { round };
}

function roundsIn({ attest, source, block, statement }: Claims): ReadonlyMap<string, number> {
  const height = block?.height ?? statement?.block.height;
  const named = new Map([[attest.txnId, attest.round]]);
  return source && height !== undefined ? named.set(source.txnId, height) : named;
}

import { AttestError, withChainOf } from "@attestd/client/chain-check";
import { ALGORAND_MAINNET, mayAskChain, type VerifyReport } from "@attestd/proof";
import type { OwnNodes, OwnNodesCheck } from "@attestd/service/own-nodes";
import { EXIT, Failure } from "./failure.ts";
import type { TrustedKeys } from "./keys-file.ts";
import { namedNode } from "./named-node.ts";
import { isSandboxLedger, standingSandbox } from "./sandbox-folder.ts";
import { tokenIn } from "./secret-file.ts";

/** Options of every command that may compare bundles with the chains. */
export type ChainOptions = {
  chain?: boolean;
  service?: string;
  algod?: string;
  algodTokenFile?: string;
  indexer?: string;
  indexerTokenFile?: string;
  baseRpc?: string;
  baseRpcFile?: string;
};

/** Compares bundles with their chains. */
export type ChainCheck = {
  /** Host of the service or node that is asked about the ledger. */
  askedOf: string;
  /**
   * Adds the online checks to a report.
   * @param bundle UTF-8 of the same bundle's JSON
   * @throws Failure `unreachable` when nothing was decided: the offline report stands
   */
  compare(bundle: Uint8Array, report: VerifyReport): Promise<VerifyReport>;
};

/** The options that name nodes, with those that complete them. */
const NODES = ["algod", "algodTokenFile", "indexer", "indexerTokenFile", "baseRpc", "baseRpcFile"] as const;

/**
 * Whom `--chain` asks: a service, or the user's own nodes. The sandbox's service is the default only for bundles of that
 * sandbox: it knows no other ledger.
 *
 * @returns undefined without `--chain`. @throws Failure `usage`
 */
export async function chainCheck(
  options: ChainOptions,
  trusted: TrustedKeys | undefined,
): Promise<ChainCheck | undefined> {
  const { chain, service } = options;
  const hasNodes = NODES.some((name) => options[name] !== undefined);
  if (!chain) {
    const named = hasNodes ? "nodes are" : service !== undefined ? "--service is" : undefined;
    if (named === undefined) return undefined;
    throw new Failure(EXIT.usage, `${named} asked only with --chain`, ["Give both, or neither."]);
  }
  if (hasNodes && service !== undefined)
    throw new Failure(EXIT.usage, "--service and own nodes are both named", ["Keep the one that is to be asked."]);
  const ledger = trusted?.trust.ledger ?? ALGORAND_MAINNET;
  if (hasNodes) return checkByNodes(await ownNodes(options), ledger);
  const ofSandbox = trusted !== undefined && isSandboxLedger(ledger);
  const asked = service ?? (ofSandbox ? standingSandbox()?.serviceUrl : undefined);
  if (asked !== undefined) return checkByService(asked);
  throw new Failure(EXIT.usage, "--chain needs a service or nodes to ask", [
    "Name a service: --service URL. Or your own nodes: --algod URL, --indexer URL, --base-rpc URL.",
  ]);
}

function checkByService(service: string): ChainCheck {
  return {
    askedOf: new URL(service).host,
    compare: (bundle, report) =>
      withChainOf(service, bundle, report).catch((error) => {
        throw error instanceof AttestError ? new Failure(EXIT.unreachable, error.message, [], error) : error;
      }),
  };
}

async function ownNodes(options: ChainOptions): Promise<OwnNodes> {
  const { algod, algodTokenFile, indexer, indexerTokenFile, baseRpc, baseRpcFile } = options;
  if (indexer !== undefined && algod === undefined)
    throw new Failure(EXIT.usage, "--indexer needs --algod", [
      "An indexer says where a transaction is; the block comes from an algod.",
    ]);
  if (baseRpc !== undefined && baseRpcFile !== undefined)
    throw new Failure(EXIT.usage, "--base-rpc and --base-rpc-file are both given", ["Keep one."]);
  const base = baseRpc ?? (baseRpcFile === undefined ? undefined : await urlIn(baseRpcFile));
  return {
    algod: await namedNode("algod", algod, algodTokenFile),
    indexer: await namedNode("indexer", indexer, indexerTokenFile),
    rpc: base === undefined ? {} : { base },
  };
}

async function urlIn(path: string): Promise<string> {
  const text = await tokenIn(path);
  if (/^https?:$/.test(URL.parse(text)?.protocol ?? "")) return text;
  throw new Failure(EXIT.usage, `${path} has no URL`, ["Write the URL of a node into it, on one line."]);
}

function checkByNodes(nodes: OwnNodes, ledger: string): ChainCheck {
  const [first = ""] = [nodes.algod?.url, ...Object.values(nodes.rpc)].filter((url) => url !== undefined);
  let opened: Promise<OwnNodesCheck> | undefined;
  return {
    askedOf: new URL(first).host,
    async compare(bundle, report) {
      const { openOwnNodes } = await import("@attestd/service/own-nodes");
      const { hasCode } = await import("@attestd/service/errors");
      opened ??= openOwnNodes(nodes, ledger);
      const compared = await opened
        .then((check) => check.compare(bundle, report))
        .catch((error) => {
          if (!hasCode(error, "providers_unavailable", "providers_conflict")) throw error;
          throw new Failure(EXIT.unreachable, `${error.message}.`, [], error);
        });
      const { chainSource, chainAttest } = compared.checks;
      if (mayAskChain(report) && chainSource === "not_checked" && chainAttest === "not_checked")
        throw new Failure(EXIT.unreachable, "No node of its chain, or of the ledger, was named.");
      return compared;
    },
  };
}

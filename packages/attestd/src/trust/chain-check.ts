import { AttestError, withChainOf } from "@attestd/client/chain-check";
import { ALGORAND_MAINNET, mayAskChain, type VerifyReport } from "@attestd/proof";
import type { OwnNodes, OwnNodesCheck } from "@attestd/service/own-nodes";
import { EXIT, Failure } from "../failure.ts";
import { readText } from "../files/files.ts";
import { type ChainOptions, isHttpUrl } from "../options.ts";
import type { TrustedKeys } from "./keys.ts";
import { isSandboxLedger, runningSandbox } from "./sandbox-folder.ts";

/** Compares bundles with their chains. */
export type ChainCheck = {
  /** Host of the service or node that is asked about the ledger. */
  askedOf: string;
  /**
   * Adds the online checks to a report.
   * @param bundle UTF-8 of the same bundle's JSON
   * @returns why nothing could be decided, in a sentence, where nothing could: the offline report stands then
   */
  compare(bundle: Uint8Array, report: VerifyReport): Promise<VerifyReport | Undecided>;
};

/** Why nothing could be decided. */
export type Undecided = { undecided: string };

/** The options that name nodes, and those that complete them. */
const NODES = ["algod", "algodTokenFile", "indexer", "indexerTokenFile", "baseRpc"] as const;

/**
 * Finds whom `--chain` asks: a service, or the user's own nodes. The sandbox's service is the default only for bundles of that
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
  const isOfSandbox = trusted !== undefined && isSandboxLedger(ledger);
  const asked = service ?? (isOfSandbox ? runningSandbox()?.serviceUrl : undefined);
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
        if (error instanceof AttestError) return { undecided: error.message };
        throw error;
      }),
  };
}

async function ownNodes({
  algod,
  algodTokenFile,
  indexer,
  indexerTokenFile,
  baseRpc,
}: ChainOptions): Promise<OwnNodes> {
  if (indexer !== undefined && algod === undefined)
    throw new Failure(EXIT.usage, "--indexer needs --algod", [
      "An indexer says where a transaction is; the block comes from an algod.",
    ]);
  return {
    algod: await namedNode("algod", algod, algodTokenFile),
    indexer: await namedNode("indexer", indexer, indexerTokenFile),
    rpc: baseRpc === undefined ? {} : { base: await namedUrl(baseRpc) },
  };
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
      try {
        const compared = await (await opened).compare(bundle, report);
        const { chainSource, chainAttest } = compared.checks;
        const isAsked = chainSource !== "not_checked" || chainAttest !== "not_checked" || !mayAskChain(report);
        return isAsked ? compared : { undecided: "No node of its chain, or of the ledger, was named." };
      } catch (error) {
        if (!hasCode(error, "providers_unavailable", "providers_conflict")) throw error;
        return { undecided: `${(error as Error).message}.` };
      }
    },
  };
}

/** A node, and its token if it needs one. */
export type Node = { url: string; token?: string };

/**
 * The node that options name. Its token is in a file, because every process of the machine can read arguments.
 *
 * @param name the option that has the URL
 * @returns undefined where no node is named
 * @throws Failure `usage` for a token without a node, and for a file without a token
 */
export async function namedNode(
  name: "algod" | "indexer",
  url: string | undefined,
  tokenFile: string | undefined,
): Promise<Node | undefined> {
  if (url === undefined && tokenFile !== undefined)
    throw new Failure(EXIT.usage, `--${name}-token-file is for --${name}`, ["Give both, or neither."]);
  return url === undefined ? undefined : { url, ...(tokenFile !== undefined && { token: await tokenIn(tokenFile) }) };
}

/** The URL that an option names: by itself or, if it contains a key, in a file. @throws Failure `usage` */
export async function namedUrl(named: string): Promise<string> {
  if (isHttpUrl(named)) return named;
  const text = await tokenIn(named);
  if (isHttpUrl(text)) return text;
  throw new Failure(EXIT.usage, `${named} has no URL`, ["Write the URL of a node into it, on one line."]);
}

/** The token in a file of one line. @throws Failure `usage` when the file has no token, or cannot be read */
async function tokenIn(path: string): Promise<string> {
  const text = await readText(path, EXIT.usage);
  // Only characters that a header may have (RFC 9110): an error about others would print the token.
  if (/^[\x21-\x7e]+$/.test(text.trim())) return text.trim();
  throw new Failure(EXIT.usage, `${path} has no token`, ["A token is one line, without blanks."]);
}

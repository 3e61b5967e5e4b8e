import { BASE_CHAIN_ID } from "@attestd/proof/base";
import { excerpt } from "@attestd/proof/text";
import { numberToHex } from "viem/utils";
import { z } from "zod";
import { away, checkEach, type Finding, fail, inSeconds, ok, refusalBy, warning } from "../../health/finding.ts";
import type { EthereumNodes, EthereumRpc } from "../../providers/ethereum-rpc.ts";
import { orProviderError } from "../../providers/provider.ts";
import { readHeader } from "./block.ts";

/** The greatest age of a node's newest block, in ms: Base makes five a second. */
const MAX_AGE_MS = 60_000;

/** Examines the nodes: chain, sync, the form of headers, final blocks and receipts. */
export async function examineNodes(nodes: EthereumNodes | undefined, signal: AbortSignal): Promise<Finding[]> {
  if (!nodes) return [ok("chains.base.rpc is not set: nothing on Base can be attested or paid.")];
  return checkEach(nodes.rpcs, { setting: "chains.base.rpc" }, (rpc) => examineNode(rpc, nodes.rules, signal));
}

async function examineNode(rpc: EthereumRpc, rules: EthereumNodes["rules"], signal: AbortSignal): Promise<Finding[]> {
  const setting = `chains.base.rpc: ${rpc.name}`;
  const latest = await rpc.latest(signal);
  const ageMs = Date.now() - latest.timestamp * 1000;
  if (ageMs > MAX_AGE_MS)
    return [away(`${setting} has had no new block for ${inSeconds(ageMs)}. Check that it follows the chain.`)];
  const findings: Finding[] = [];
  const newest = await rpc.header(latest.number, signal);
  const place = { provider: rpc.name, number: latest.number };
  const header = newest && orProviderError(() => readHeader(place, newest, rules));
  if (header instanceof Error)
    findings.push(
      fail(`chains.base.rpc: ${header.message}. If Base has forked, update attestd; else name another node.`),
    );
  for (const tag of ["safe", "finalized"] as const) {
    const block = rpc.block(tag, signal);
    if ((await refusalBy(block)) !== undefined || (await block) === undefined)
      findings.push(fail(`${setting} has no ${tag} block, which makes payments final. Name another node.`));
  }

  const receipts = await refusalBy(rpc.call("eth_getBlockReceipts", [numberToHex(latest.number)], z.unknown(), signal));
  if (receipts !== undefined) {
    const what = `has no eth_getBlockReceipts (${receipts}): proofs come without receipts`;
    findings.push(warning(`${setting} ${what}.`));
  }
  if (findings.some(({ mark }) => mark === "fail")) return findings;
  const client = await rpc.call("web3_clientVersion", [], z.string(), signal).catch(() => undefined);
  const release = client === undefined ? "" : ` runs ${excerpt(client, 60)},`;
  const facts = `chain ${BASE_CHAIN_ID}, block ${latest.number}`;
  return [ok(`${setting}${release} is on ${facts}, ${inSeconds(Math.max(0, ageMs))} old.`), ...findings];
}

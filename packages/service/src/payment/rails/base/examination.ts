import { numberToHex } from "viem/utils";
import { z } from "zod";
import { type Finding, refusalBy, warning } from "../../../health/finding.ts";
import { ignoring } from "../../../lib/errors.ts";
import type { EthereumRpc } from "../../../providers/ethereum-rpc.ts";
import { isProviderError } from "../../../providers/provider.ts";
import { BASE } from "./usdc.ts";
import { addressTopic, TRANSFER } from "./usdc-contract.ts";

/**
 * How many blocks back the state is checked, because some nodes prune it: an hour of blocks of 200 ms, a payment's
 * longest life.
 */
const OLD_BLOCKS = 18_000;
const ANY_ADDRESS = `0x${"0".repeat(39)}1`;

/**
 * Examines what the search for a payment needs: logs of many blocks at once, and old state. The examination of the source
 * chain reports a node that does not answer.
 */
export async function examineSearches(
  rpcs: readonly EthereumRpc[],
  logSpan: number,
  signal: AbortSignal,
): Promise<Finding[]> {
  const found = rpcs.map((rpc) => examineNode(rpc, logSpan, signal).catch(ignoring(isProviderError)));
  return (await Promise.all(found)).flatMap((findings) => findings ?? []);
}

async function examineNode(rpc: EthereumRpc, logSpan: number, signal: AbortSignal): Promise<Finding[]> {
  const setting = `chains.base.rpc: ${rpc.name}`;
  const findings: Finding[] = [];
  const latest = await rpc.blockNumber(signal);
  const span = Math.min(logSpan, latest);
  const asked = { fromBlock: numberToHex(latest - span + 1), toBlock: numberToHex(latest) };
  const filter = { address: BASE.asset, topics: [TRANSFER, null, addressTopic(ANY_ADDRESS)], ...asked };
  const refusal = await refusalBy(rpc.call("eth_getLogs", [filter], z.array(z.unknown()), signal));
  if (refusal !== undefined) {
    const what = `refuses logs of ${span} blocks (${refusal})`;
    findings.push(
      warning(`${setting} ${what}. Set chains.base.log_span to what its host allows, or choose another host.`),
    );
  }
  const old = latest - OLD_BLOCKS;
  const pruned =
    old > 0 && (await refusalBy(rpc.call("eth_getCode", [BASE.asset, numberToHex(old)], z.string(), signal)));
  if (pruned) {
    const what = `has no state of an hour ago (${pruned}): a lost payment is searched by logs alone, which takes longer`;
    findings.push(warning(`${setting} ${what}. Choose a node that keeps it.`));
  }
  return findings;
}

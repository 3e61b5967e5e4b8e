import { BASE_CHAIN_ID } from "@attestd/proof/base";
import { excerpt } from "@attestd/proof/text";
import { numberToHex } from "viem/utils";
import { z } from "zod";
import { readHeader } from "../../chains/base/block.ts";
import { BASE_RAIL, baseLogSpan } from "../../payment/rails/base/rail-kind.ts";
import { BASE } from "../../payment/rails/base/usdc.ts";
import { TRANSFER } from "../../payment/rails/base/usdc-contract.ts";
import type { EthereumNodes, EthereumRpc } from "../../providers/ethereum-rpc.ts";
import { orProviderError } from "../../providers/provider.ts";
import {
  away,
  type Check,
  checkEach,
  type Examined,
  type Finding,
  fail,
  inSeconds,
  ok,
  refusalBy,
  warning,
} from "./finding.ts";

/** The greatest age of a node's newest block, in ms: Base makes five a second. */
const MAX_AGE_MS = 60_000;
/**
 * How many blocks back the state is checked, because some nodes prune it: an hour of blocks of 200 ms, a payment's
 * longest life.
 */
const OLD_BLOCKS = 18_000;

/**
 * Checks Base's nodes: chain, sync, the form of headers, final blocks, old state, and the limits of their searches for
 * logs.
 */
export const checkBase: Check = async (examined) => {
  const { config, nodes } = examined;
  if (!config.sources.base) return [ok("BASE_RPC_URL is not set: nothing on Base can be attested or paid.")];
  const { rpcs, rules } = nodes.rail(BASE_RAIL);
  return checkEach(rpcs, { setting: "BASE_RPC_URL" }, (rpc) => checkRpc(rpc, rules, examined));
};

async function checkRpc(
  rpc: EthereumRpc,
  rules: EthereumNodes["rules"],
  { config, signal }: Examined,
): Promise<Finding[]> {
  const setting = `BASE_RPC_URL: ${rpc.name}`;
  const latest = await rpc.latest(signal);
  const ageMs = Date.now() - latest.timestamp * 1000;
  if (ageMs > MAX_AGE_MS)
    return [away(`${setting} has had no new block for ${inSeconds(ageMs)}. Check that it follows the chain.`)];
  const findings: Finding[] = [];
  const newest = await rpc.header(latest.number, signal);
  const place = { provider: rpc.name, number: latest.number };
  const header = newest && orProviderError(() => readHeader(place, newest, rules));
  if (header instanceof Error)
    findings.push(fail(`BASE_RPC_URL: ${header.message}. If Base has forked, update attestd; else name another node.`));
  for (const tag of ["safe", "finalized"] as const) {
    const block = rpc.block(tag, signal);
    if ((await refusalBy(block)) !== undefined || (await block) === undefined)
      findings.push(fail(`${setting} has no ${tag} block, which makes payments final. Name another node.`));
  }

  // The largest query of the search for a payment.
  const span = Math.min(baseLogSpan(config), latest.number);
  const asked = { fromBlock: numberToHex(latest.number - span + 1), toBlock: numberToHex(latest.number) };
  const filter = { address: BASE.asset, topics: [TRANSFER, null, `0x${"0".repeat(63)}1`], ...asked };
  const refusal = await refusalBy(rpc.call("eth_getLogs", [filter], z.array(z.unknown()), signal));
  if (refusal !== undefined) {
    const what = `refuses logs of ${span} blocks (${refusal})`;
    findings.push(warning(`${setting} ${what}. Set BASE_LOG_SPAN to what its host allows, or choose another host.`));
  }
  const old = latest.number - OLD_BLOCKS;
  const pruned =
    old > 0 && (await refusalBy(rpc.call("eth_getCode", [BASE.asset, numberToHex(old)], z.string(), signal)));
  if (pruned) {
    const what = `has no state of an hour ago (${pruned}): a lost payment is searched by logs alone, which takes longer`;
    findings.push(warning(`${setting} ${what}. Choose a node that keeps it.`));
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

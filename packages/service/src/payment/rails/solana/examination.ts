import { excerpt } from "@attestd/proof/text";
import { z } from "zod";
import {
  away,
  checkEach,
  type Examination,
  type Finding,
  fail,
  inSeconds,
  ok,
  refusalBy,
  warning,
} from "../../../health/finding.ts";
import { refusalOf } from "../../../providers/json-rpc.ts";
import type { SolanaRpc } from "../../../providers/solana-rpc.ts";
import { usdcAccountOf } from "./token-account.ts";
import { SOLANA } from "./usdc.ts";

const Version = z.object({ "solana-core": z.string() });

/** The greatest age of a node's newest confirmed block, in ms: a payment is valid for a minute. */
const MAX_AGE_MS = 20_000;

/** Examines the nodes: cluster, health, age of the newest block, and whether they list the payee's transactions. */
export async function examineNodes(rpcs: readonly SolanaRpc[], examination: Examination): Promise<Finding[]> {
  if (rpcs.length === 0) return [ok("chains.solana.rpc is not set: nothing is paid on Solana.")];
  return checkEach(rpcs, { setting: "chains.solana.rpc" }, (rpc) => examineNode(rpc, examination));
}

async function examineNode(rpc: SolanaRpc, { config, signal }: Examination): Promise<Finding[]> {
  const setting = `chains.solana.rpc: ${rpc.name}`;
  await rpc.checkHealth(signal);
  const slot = await rpc.call("getSlot", [{ commitment: "confirmed" }], z.int().nonnegative(), signal);
  const time = await rpc.call("getBlockTime", [slot], z.int().nullable(), signal).catch((error: unknown) => {
    // A slot without a block has no time.
    if (refusalOf(error)) return null;
    throw error;
  });
  const ageMs = time === null ? 0 : Date.now() - time * 1000;
  if (ageMs > MAX_AGE_MS)
    return [away(`${setting} has had no new block for ${inSeconds(ageMs)}. Check that it follows the cluster.`)];
  const account = usdcAccountOf(config.rails.solana?.payTo ?? SOLANA.asset);
  const listed = account === undefined ? undefined : rpc.transactionsOf(account, { limit: 1_000 }, signal);
  if (listed !== undefined && (await refusalBy(listed)) !== undefined) {
    const lack = "does not list an account's transactions, by which payments are found";
    return [fail(`${setting} ${lack}. Name another node.`)];
  }
  const version = await rpc.call("getVersion", [], Version, signal).catch(() => undefined);
  const release = version === undefined ? "" : ` runs ${excerpt(version["solana-core"], 60)},`;
  const behind = time === null ? warning(`${setting} has no time of its newest block.`) : undefined;
  return [ok(`${setting}${release} is on MainNet's cluster, slot ${slot}.`), ...(behind ? [behind] : [])];
}

import { excerpt } from "@attestd/proof/text";
import { z } from "zod";
import { away, checkEach, type Finding, fail, inSeconds, ok, warning } from "../../health/finding.ts";
import type { Algod } from "../../providers/algod.ts";
import { IndexerSearch } from "../../providers/indexer-search.ts";
import { isProviderError } from "../../providers/provider.ts";
import type { Check, Examined } from "./examined.ts";
import { jsonOf } from "./public-url.ts";

const Versions = z.object({
  build: z.object({ major: z.int(), minor: z.int(), build_number: z.int() }),
});
const Status = z.object({
  "last-round": z.int().nonnegative(),
  "catchup-time": z.union([z.number(), z.bigint()]),
  "time-since-last-round": z.union([z.number(), z.bigint()]),
  "stopped-at-unsupported-round": z.boolean().optional(),
  "next-version-supported": z.boolean().optional(),
});
const Health = z.object({
  round: z.int().nonnegative(),
  version: z.string().optional(),
  "is-migrating": z.boolean().optional(),
  "db-available": z.boolean().optional(),
});
const Header = z.object({ "genesis-hash": z.string() });

/** Nanoseconds per millisecond: algod counts nanoseconds. */
const NS_A_MS = 1_000_000;
/** How long a round may take before a node counts as stuck, in ms. MainNet's rounds take 3 s. */
const MAX_ROUND_MS = 60_000;
/** How many rounds a node or indexer may be behind the others (providers/algorand-nodes.ts). */
const MAX_LAG = 10;
/** The first major release of go-algorand with consensus v42. */
const MIN_MAJOR = 5;
/** The number of rounds that every node keeps (consensus parameter MaxTxnLife). */
const KEPT_ROUNDS = 1_000;

/** Checks the ledger's nodes: network, version, sync, follower mode, congestion, and which blocks they keep. */
export const checkAlgods: Check = async (examined) => {
  const rounds = new Map<string, number>();
  const { algods } = examined.nodes.algorand;
  const names = { setting: "chains.algorand.algod", token: "its token" };
  const found = await checkEach(algods, names, (algod) => checkAlgod(algod, examined, rounds));
  const newest = Math.max(...rounds.values());
  const late = [...rounds].filter(([, round]) => newest - round > MAX_LAG);
  return [
    ...found,
    ...late.map(([name, round]) =>
      away(
        `chains.algorand.algod: ${name} is ${newest - round} rounds behind the other nodes. Wait until it has caught up.`,
      ),
    ),
  ];
};

async function checkAlgod(algod: Algod, examined: Examined, rounds: Map<string, number>): Promise<Finding[]> {
  const { signal, config } = examined;
  const setting = `chains.algorand.algod: ${algod.name}`;
  const answer = await algod.request({ path: "/versions" }, signal);
  const { feePerByte, genesisId, minFee } = await algod.params(signal);
  const status = await algod.json({ path: "/v2/status" }, Status, signal);
  const round = status["last-round"];
  rounds.set(algod.name, round);
  if (status["stopped-at-unsupported-round"] === true)
    return [fail(`${setting} has stopped, because it does not know the network's protocol. Upgrade it.`)];
  if (status["catchup-time"] > 0)
    return [away(`${setting} is catching up with the network, at round ${round}. Wait until it has.`)];
  const silentMs = Number(status["time-since-last-round"]) / NS_A_MS;
  if (silentMs > MAX_ROUND_MS)
    return [away(`${setting} has had no new round for ${inSeconds(silentMs)}. Check its connection to the network.`)];

  const findings: Finding[] = [];
  const isFollower = await algod.isFollower(signal);
  if (isFollower) findings.push(fail(`${setting} is a follower, which submits nothing. Name a node in normal mode.`));
  const { data } = answer.status === 200 ? Versions.safeParse(jsonOf(answer.body)) : {};
  const version = data && `${data.build.major}.${data.build.minor}.${data.build.build_number}`;
  if (!config.sandbox && data && data.build.major < MIN_MAJOR)
    findings.push(warning(`${setting} runs go-algorand ${version}. Upgrade it: consensus v42 needs release 5.`));
  if (status["next-version-supported"] === false)
    findings.push(warning(`${setting} does not support the network's next protocol. Upgrade it before that comes.`));
  if (feePerByte > 0n) {
    const remedy = "Payers' usual fees are refused until that ends.";
    findings.push(warning(`${setting} is congested: it asks for ${feePerByte} microAlgos a byte. ${remedy}`));
  }
  const old = Math.max(1, round - 2 * KEPT_ROUNDS);
  const keepsOld = (await algod.block(old, signal)) !== undefined;
  if (!keepsOld) {
    const lack = `keeps no block of round ${old}: older blocks, and proofs in them, cannot be sold`;
    findings.push(warning(`${setting} ${lack}. Name an archival node too, to sell them.`));
  }
  if (findings.some(({ mark }) => mark === "fail")) return findings;
  const release = version === undefined ? "" : ` runs ${version},`;
  const facts = `${excerpt(genesisId, 64)}, round ${round}, minimum fee ${minFee} microAlgos`;
  return [ok(`${setting}${release} is on ${facts}${keepsOld ? ", and keeps old blocks" : ""}.`), ...findings];
}

/**
 * Checks the indexers: network, lag, how far they go back, and whether they list what audits and lost payments need.
 */
export const checkIndexers: Check = async (examined) => {
  const { signal, config, nodes } = examined;
  const latest = await Promise.any(nodes.algorand.algods.map((algod) => algod.lastRound(signal))).catch(
    () => undefined,
  );
  const searches = config.algorand.indexer.map((node) => new IndexerSearch(node));
  const names = { setting: "chains.algorand.indexer", token: "its token" };
  return checkEach(searches, names, (indexer) => checkIndexer(indexer, latest, examined));
};

async function checkIndexer(
  indexer: IndexerSearch,
  latest: number | undefined,
  { signal, config, ledger }: Examined,
): Promise<Finding[]> {
  const setting = `chains.algorand.indexer: ${indexer.name}`;
  const answer = await indexer.request({ path: "/health" }, signal);
  if (answer.status !== 200) throw indexer.unexpected(answer);
  const health = indexer.read(answer, Health);
  if (health["db-available"] === false) return [away(`${setting} has lost its database. Check it.`)];
  if (health["is-migrating"] === true) return [away(`${setting} is migrating its database. Wait until it has.`)];
  const { round } = health;
  const header = await indexer.find({ path: `/v2/blocks/${round}?header-only=true` }, signal);
  const { genesisHash } = config.algorand;
  // A sandbox's indexer also has recorded blocks of other networks.
  const genesis = header && indexer.read(header, Header)["genesis-hash"];
  if (genesis !== undefined && genesis !== genesisHash)
    return [fail(`${setting} belongs to the network with genesis ${genesis}. Name an indexer of the right network.`)];

  const findings: Finding[] = [];
  const lag = latest === undefined ? 0 : latest - round;
  if (lag > MAX_LAG) {
    const what = "transactions of the rounds between are refused, and a sale waits";
    findings.push(
      away(`${setting} is ${lag} rounds behind algod: ${what}. Wait until it has caught up, or repair it.`),
    );
  }
  // The service looks up a transaction by its id, and the audit lists an account's.
  await indexer.transaction("A".repeat(52), signal);
  const search = { address: ledger.address };
  const span = { from: Math.max(0, round - 1), to: round };
  try {
    await indexer.list(search, span, Number.POSITIVE_INFINITY, signal);
  } catch (error) {
    if (!isProviderError(error)) throw error;
    const what = "audits and `attestd keys history` need that";
    findings.push(warning(`${setting} does not list an account's transactions (${error.message}): ${what}.`));
  }
  const first = (await indexer.timeOf(1, signal)) !== undefined;
  if (!first) {
    const what = "older transactions are refused. Name another indexer too, to sell them";
    findings.push(warning(`${setting} does not go back to the network's first round: ${what}.`));
  }
  if (findings.some(({ mark }) => mark === "fail")) return findings;
  const version = health.version === undefined ? "" : ` runs ${excerpt(health.version, 64)},`;
  const depth = first ? " and goes back to the first round" : "";
  return [ok(`${setting}${version} is at round ${round}${depth && `,${depth}`}.`), ...findings];
}

import pino from "pino";
import { SOURCE_CHAINS } from "../../chains/registry.ts";
import { readConfig, type Settings } from "../../config/config.ts";
import { publicSettings } from "../../config/print.ts";
import { away, type Finding, fail, ok, type SubjectFinding, warning } from "../../health/finding.ts";
import { deadline, systemClock } from "../../lib/clock.ts";
import { hasCode } from "../../lib/errors.ts";
import { followLedger } from "../../networks/networks.ts";
import { openNodes } from "../../networks/nodes.ts";
import { ownTables, RAILS } from "../../payment/rails/registry.ts";
import { hostClock } from "../../providers/host-clock.ts";
import type { OperatorOptions } from "../session.ts";
import { checkAttestor } from "./attestor.ts";
import type { Check, Examined } from "./examined.ts";
import { checkFacilitators } from "./facilitators.ts";
import { checkChoices, checkClock, checkPort, checkSecretFiles, secretFilesOf } from "./host.ts";
import { checkJournal } from "./journal.ts";
import { checkAlgods, checkIndexers } from "./ledger.ts";
import { checkPayees } from "./payees.ts";
import { checkPublicUrl } from "./public-url.ts";
import { examineSigner } from "./signer.ts";

/** How long one subject's check may take, in ms. */
const CHECK_MS = 45_000;

/** The checks of the nodes of each source chain and rail, by its name. */
function nodeChecks(): [subject: string, check: Check][] {
  const names = new Set([...SOURCE_CHAINS.map(({ format }) => format.name), ...RAILS.map(({ name }) => name)]);
  return [...names].flatMap((name) => {
    const chain = SOURCE_CHAINS.find(({ format }) => format.name === name);
    const rail = RAILS.find((kind) => kind.name === name);
    if (!chain?.examine && !rail?.examine) return [];
    const check: Check = async ({ nodes, ...examination }) => [
      ...(chain?.examine ? await chain.examine(nodes.sources.get(chain), examination) : []),
      ...(rail?.examine ? await rail.examine(nodes.rail(rail), examination) : []),
    ];
    return [[name, check]];
  });
}

/** The checks of upstreams, in the order of their listing. */
const checks = (): [subject: string, check: Check][] => [
  ["journal", checkJournal],
  ["algod", checkAlgods],
  ["indexer", checkIndexers],
  ["attestor", checkAttestor],
  ...nodeChecks(),
  ["payees", checkPayees],
  ["facilitators", checkFacilitators],
];

export type ExaminationOptions = OperatorOptions & {
  /** Whether the service itself is starting: then neither its port nor its public URL is examined. */
  isStarting?: boolean;
};

/**
 * Examines a deployment: every setting and every upstream. Changes nothing, and spends nothing.
 * @returns findings as they come, in the order of their subjects. If settings are wrong there are no others
 */
export async function* examine(settings: Settings, options: ExaminationOptions): AsyncGenerator<SubjectFinding> {
  const about = (subject: string) => (finding: Finding) => ({ subject, ...finding });
  const { signal, sandbox, isStarting = false } = options;
  const read = readSettings(settings, sandbox);
  if ("faults" in read) {
    yield* read.faults.map(fail).map(about("settings"));
    yield about("settings")(warning("Nothing else was examined: correct the settings first."));
    return;
  }
  const { config } = read;
  yield* [...(await checkSettings(settings)), ...checkChoices(config)].map(about("settings"));

  const log = pino({ level: "silent" });
  const nodes = openNodes(config, log);
  await using opened = new AsyncDisposableStack();
  const examinedSigner = await examineSigner(config, { log, signal }, opened);
  yield* examinedSigner.findings.map(about("signer"));
  if (!examinedSigner.keys) return;
  const { kid, account } = examinedSigner.keys;
  const { ledger, rounds } = followLedger(config, account, nodes.algorand, log);
  opened.defer(() => rounds.stop());
  const found = checks().map(async ([subject, check]) => {
    const ends = deadline(systemClock, CHECK_MS, signal);
    const examined: Examined = { config, nodes, ledger, kid, log, signal: ends };
    return (await check(examined).catch(lateOr(ends, signal))).map(about(subject));
  });
  // All run at once; a failure that is not awaited yet must not end the process.
  for (const one of found) one.catch(() => undefined);
  for (const one of found) yield* await one;
  yield* checkClock(hostClock.compare()).map(about("clock"));
  if (isStarting) return;
  const { finding, isServed } = await checkPort(config);
  yield about("address")(finding);
  yield* (await checkPublicUrl(config, { kid, isServed, signal })).map(about("address"));
}

/** @throws every error but a check's own time-out */
function lateOr(ends: AbortSignal, signal: AbortSignal) {
  return (error: unknown): Finding[] => {
    if (!ends.aborted || signal.aborted) throw error;
    return [away(`Not examined within ${CHECK_MS / 1000} s: its upstreams are too slow.`)];
  };
}

function readSettings(settings: Settings, sandbox: boolean) {
  try {
    return { config: readConfig(settings, { sandbox, own: ownTables(), signs: true }) };
  } catch (error) {
    if (!hasCode(error, "config_invalid")) throw error;
    return { faults: error.details.faults };
  }
}

async function checkSettings(settings: Settings): Promise<Finding[]> {
  const set = Object.keys(publicSettings(settings, ownTables())).length;
  return [ok(`${set} settings are set, and fit together.`), ...(await checkSecretFiles(secretFilesOf(settings)))];
}

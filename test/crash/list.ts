import { type Deployment, startDeployment } from "../e2e/deployment.ts";
import { algorandSources, baseSources } from "../e2e/many-sources.ts";
import { buyList, type ListPurchase, settlementWatch } from "../helpers/list-purchase.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

export type ListOutcome = Omit<ListPurchase, "ended" | "saved" | "rows"> & {
  items: number;
  verified: number;
  seconds: number;
  wrong: string[];
};

/** Buys a list of transactions of two chains from the command line, which is killed twice. @param count of transactions, even */
export async function runList(count: number): Promise<ListOutcome> {
  const watch = settlementWatch();
  await using folder = await temporaryFolder();
  await using opened = new AsyncDisposableStack();
  const deployment: Deployment = await startDeployment({ onRequest: watch.onRequest });
  opened.defer(() => deployment.close());
  const { sandbox } = deployment;
  const ids = [...(await algorandSources(sandbox, count / 2)), ...(await baseSources(sandbox, count / 2))];
  const began = performance.now();
  const killAt = [1, 2];
  const bought = await buyList(deployment, watch, { folder: folder.path, ids, more: [], killAt });
  const { ended, killed, settlements, requests, notes, saved, rows } = bought;
  const verified = rows.filter((row, place) => row.includes("Verified") && row.includes(ids[place] ?? " ")).length;
  const wrong = [
    ...(ended.code === 0 ? [] : [`exit code ${ended.code}: ${ended.stderr}`]),
    ...(killed === killAt.length ? [] : [`killed ${killed} times`]),
    ...(saved.length === count && rows.length === count ? [] : [`${saved.length} bundles, ${rows.length} rows`]),
    ...(verified === count ? [] : [`${verified} rows are verified, in the order of the list`]),
    ...(settlements === notes ? [] : [`${settlements} settlements and ${notes} notes`]),
  ];
  return {
    items: count,
    verified,
    killed,
    settlements,
    requests,
    notes,
    seconds: (performance.now() - began) / 1000,
    wrong,
  };
}

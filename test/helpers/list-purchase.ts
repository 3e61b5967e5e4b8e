import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Deployment } from "../e2e/deployment.ts";
import { outsider } from "../e2e/ledger.ts";
import { type Ended, start } from "./command.ts";

/** Counts requests to the sandbox, and calls its listener when the facilitator is asked to settle, which has not answered then. */
export function settlementWatch() {
  let settlements = 0;
  let requests = 0;
  let listener: ((nth: number) => void) | undefined;
  return {
    onRequest({ server, url }: { server: string; url: string }) {
      requests += 1;
      if (server === "facilitator" && url === "/settle") listener?.(++settlements);
    },
    get settlements() {
      return settlements;
    },
    /** To nodes and facilitators, by whomever. */
    get requests() {
      return requests;
    },
    listen(to: typeof listener) {
      listener = to;
    },
  };
}

export type ListPurchase = {
  /** Of the last run of the command. */
  ended: Ended;
  killed: number;
  settlements: number;
  /** Requests to nodes and facilitators meanwhile, those of the ledger's watcher among them. */
  requests: number;
  /** Attestations on the ledger that the purchase made. */
  notes: number;
  /** Names of the bundles that were saved. */
  saved: string[];
  /** Rows of the table, without its head. */
  rows: string[];
};

/**
 * Buys a list from the command line, and kills the command (SIGKILL) while some of its payments are settled; each time it is
 * run again.
 *
 * @param folder where the command runs
 * @param more arguments of the command
 * @param killAt which settlements it dies at, from 1
 */
export async function buyList(
  deployment: Deployment,
  watch: ReturnType<typeof settlementWatch>,
  { folder, ids, more, killAt }: { folder: string; ids: readonly string[]; more: string[]; killAt: number[] },
): Promise<ListPurchase> {
  const { sandbox, url } = deployment;
  const { payers, algodUrl, solanaRpcUrl } = sandbox;
  await writeFile(join(folder, "list.txt"), `${ids.join("\n")}\n`);
  await writeFile(join(folder, "wallet.json"), JSON.stringify({ payers, algodUrl, solanaRpcUrl }));
  const keys = await (await fetch(`${url}/.well-known/attestor-keys.json`)).text();
  await writeFile(join(folder, "keys.json"), keys);
  const notes = async () => (await outsider(sandbox).attestations()).length;
  const before = { notes: await notes(), settlements: watch.settlements, requests: watch.requests };
  const parties = [
    "--service",
    url,
    "--wallet",
    "wallet.json",
    "--keys",
    "keys.json",
    "--out",
    "out",
    "--max-price",
    "1",
  ];
  const options = { cwd: folder, env: { XDG_STATE_HOME: join(folder, "state") } };
  let killed = 0;
  for (;;) {
    const command = start(["attest", "--file", "list.txt", ...parties, ...more], options);
    watch.listen((nth) => {
      if (killAt.includes(nth - before.settlements) && command.kill("SIGKILL")) killed += 1;
    });
    const ended = await command.ended;
    watch.listen(undefined);
    if (ended.code === null) continue;
    const files = await readdir(join(folder, "out")).catch(() => []);
    const table = await readFile(join(folder, "out", "attestations.csv"), "utf8").catch(() => "");
    return {
      ended,
      killed,
      settlements: watch.settlements - before.settlements,
      requests: watch.requests - before.requests,
      notes: (await notes()) - before.notes,
      saved: files.filter((name) => /^(0x[0-9a-f]{64}|[A-Z2-7]{52})\.json$/.test(name)),
      rows: table.trim().split("\r\n").slice(1),
    };
  }
}

import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import { itemBundles, type KeyHistory, parseBatch, verify } from "@attestd/proof";
import { followByStock } from "../../packages/proof/test/stock-merkle.ts";
import { nativeCrypto } from "../../packages/service/src/lib/crypto/crypto.ts";
import { aligned } from "../crash/table.ts";
import { type Deployment, pay, sign, startDeployment } from "../e2e/deployment.ts";
import { outsider } from "../e2e/ledger.ts";
import { algorandSources, baseSources } from "../e2e/many-sources.ts";
import { type Rail, type RailName, railsOf } from "../e2e/rails.ts";
import { buyBatch, type TransportName } from "../e2e/transports.ts";

/*
 * npm run test:batches
 *
 * Buys batches of every size that a tree can be odd in, on every rail, over every transport; has each item verified alone, and
 * its way to the root followed by another verifier; counts settlements and notes. Writes the result to docs/measured/batches.md. `npm test`
 * has some of them (test/e2e/batch.test.ts).
 */

const SIZES = [2, 3, 255, 256, 1_000];
const RAILS: readonly RailName[] = ["algorand", "base", "solana"];
const TRANSPORTS: readonly TransportName[] = ["HTTP", "MCP", "A2A"];
const MAX_SIZE = Math.max(...SIZES);
/** A batch that is still being read is asked for again. */
const PAUSE_MS = 1_000;
const PATIENCE_MS = 120_000;
const DOCUMENT = new URL("../../docs/measured/batches.md", import.meta.url);
const SECTION = /(<!-- the last run -->)[\s\S]*(<!-- end of the run -->)/;

let settlements = 0;
const deployment = await startDeployment({
  onRequest: ({ server, url }) => {
    if (server === "facilitator" && url === "/settle") settlements += 1;
  },
});
try {
  const lines: string[][] = [];
  const faults: string[] = [];
  const { sandbox, url } = deployment;
  const rails = await railsOf(sandbox);
  const [algorand, base] = [await algorandSources(sandbox, MAX_SIZE / 2), await baseSources(sandbox, MAX_SIZE)];
  const mixed = algorand.flatMap((id, n) => [id, base[n] as string]);
  const trust = (await (await fetch(`${url}/.well-known/attestor-keys.json`)).json()) as KeyHistory;
  const ledger = outsider(sandbox);

  for (const rail of RAILS) {
    for (const size of SIZES) {
      const cells: string[] = [];
      for (const transport of TRANSPORTS) {
        // What is on Algorand is paid there alone.
        const ids = (rail === "algorand" ? mixed : base).slice(0, size);
        const began = performance.now();
        const before = { settlements, notes: (await ledger.attestations()).length };
        const text = await buy(deployment, rails[rail], transport, ids);
        const seconds = ((performance.now() - began) / 1000).toFixed(1);
        const after = {
          settlements: settlements - before.settlements,
          notes: (await ledger.attestations()).length - before.notes,
        };
        const wrong = faultsOf(text, ids, trust);
        if (after.settlements !== 1 || after.notes !== 1)
          wrong.push(`${after.settlements} settlements, ${after.notes} notes`);
        faults.push(...wrong.map((fault) => `${rail}, ${size}, ${transport}: ${fault}`));
        cells.push(wrong.length === 0 ? `${size} verified, ${seconds} s` : "**wrong**");
        console.log(`${rail}, ${size}, ${transport}: ${cells.at(-1)}`);
      }
      lines.push([rail, rail === "algorand" ? "Algorand and Base" : "Base", String(size), ...cells]);
    }
  }
  record(aligned(["paid on", "sources", "items", ...TRANSPORTS], lines), faults);
} finally {
  await deployment.close();
}

/** @returns the answer's JSON */
async function buy({ url }: Deployment, rail: Rail, transport: TransportName, ids: readonly string[]): Promise<string> {
  const body = { items: ids.map((txid) => ({ txid })) };
  const payment = await sign(`${url}/attest-batch`, body, rail.client);
  const ends = performance.now() + PATIENCE_MS;
  for (;;) {
    const answer =
      transport === "HTTP"
        ? (await pay(`${url}/attest-batch`, body, payment)).text
        : JSON.stringify(await buyBatch(url, transport, body, payment));
    if (answer.startsWith('{"batch":') || performance.now() > ends) return answer;
    await setTimeout(PAUSE_MS);
  }
}

function faultsOf(text: string, ids: readonly string[], trust: KeyHistory): string[] {
  try {
    const answer = parseBatch(text);
    const wrong = answer.items.flatMap(({ statement }, i) =>
      statement.txnId === ids[i] ? [] : [`item ${i} is another's`],
    );
    if (answer.items.length !== ids.length) wrong.push(`${answer.items.length} items`);
    for (const item of answer.items) followByStock(item, answer.batch);
    for (const item of itemBundles(answer)) {
      const { verified, failures } = verify(JSON.stringify(item), { trust, crypto: nativeCrypto });
      if (!verified) wrong.push(JSON.stringify(failures));
    }
    return wrong;
  } catch (error) {
    return [`${(error as Error).message}: ${text.slice(0, 200)}`];
  }
}

function record(table: readonly string[], faults: readonly string[]): void {
  const revision = execFileSync("git", ["rev-parse", "--short", "HEAD"], { encoding: "utf8" }).trim();
  const total = SIZES.length * RAILS.length * TRANSPORTS.length;
  const heading = `${new Date().toISOString().slice(0, 10)}, revision ${revision}: ${total} batches, ${faults.length} faults.`;
  const text = [heading, "", ...table].join("\n");
  console.log(text);
  for (const fault of faults) console.error(fault);
  writeFileSync(
    DOCUMENT,
    readFileSync(DOCUMENT, "utf8").replace(SECTION, (_, from, to) => `${from}\n\n${text}\n\n${to}`),
  );
  process.exitCode = faults.length === 0 ? 0 : 1;
}

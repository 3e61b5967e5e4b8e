import { writeFile } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { algorandClient, pay, sign } from "../packages/attestd/test/world.ts";
import { startFloor } from "./floor.ts";
import { type Load, type Request, startLoad } from "./load.ts";
import { type Effort, inTurns, judge, type Row } from "./measure.ts";
import { startAttestd, startNetworks } from "./server.ts";

const CONNECTIONS = 64;

/**
 * POST /verify of a valid bundle over 64 connections, beside as many processes as there are cores that do nothing but
 * import the key and verify the signature; and of a bundle that fails in its schema, beside a valid one.
 */
export async function run(effort: Effort): Promise<Row[]> {
  await using networks = await startNetworks(1000);
  await using attestd = await startAttestd(networks.settingsFile);
  const { sandbox } = networks;
  const request = { txid: sandbox.sampleTransactions.algorand };
  const attest = `${attestd.url}/attest`;
  const { status, text } = await pay(attest, request, await sign(attest, request, algorandClient(sandbox)));
  if (status !== 200) throw new Error(`no bundle: ${text}`);

  await using load = startLoad();
  const file = join(networks.dir, "bundle.json");
  await writeFile(file, text);
  await using floor = await startFloor("bare-verify.ts", availableParallelism(), [file]);
  const valid = rate(load, attestd.url, text, 200, effort.seconds);
  const invalid = rate(load, attestd.url, text.replace('"version":1', '"version":2'), 400, effort.seconds);
  return [
    judge("verify", "/s", await inTurns(effort, valid, () => floor.rate(effort.seconds)), "share", { atLeast: 0.7 }),
    judge("verify-bad", "/s", await inTurns(effort, invalid, valid), "share", { atLeast: 3 }),
  ];
}

/** @returns answers a second */
function rate(load: Load, url: string, body: string, status: number, seconds: number): () => Promise<number> {
  const request: Request = { method: "POST", path: "/verify", body };
  return async () => {
    const result = await load.run(url, [request], { connections: CONNECTIONS, seconds, status });
    return result.answered / result.seconds;
  };
}

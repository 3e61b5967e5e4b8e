import { writeFile } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { startFloor } from "./floor.ts";
import { startLoad } from "./load.ts";
import { type Effort, inTurns, judge, type Row } from "./measure.ts";
import { buy } from "./purchase.ts";
import { startAttestd, startNetworks } from "./server.ts";

/**
 * POST /verify of a valid bundle over 64 connections, beside as many processes as there are cores that do nothing but
 * import the key and verify the signature; and of a bundle that fails in its schema, beside a valid one.
 */
export async function run(effort: Effort): Promise<Row[]> {
  await using networks = await startNetworks(1000);
  await using attestd = await startAttestd(networks.settingsFile);
  const { bundle } = await buy(attestd, networks);

  await using load = startLoad();
  const file = join(networks.dir, "bundle.json");
  await writeFile(file, bundle);
  await using floor = await startFloor("bare-verify.ts", availableParallelism(), [file]);
  const { seconds } = effort;
  const rate = (body: string, status: number) =>
    load.rate(attestd.url, { method: "POST", path: "/verify", body }, { status, seconds });
  const valid = rate(bundle, 200);
  const invalid = rate(bundle.replace('"version":1', '"version":2'), 400);
  return [
    judge("verify", "/s", await inTurns(effort, valid, () => floor.rate(seconds)), "share", { atLeast: 0.7 }),
    judge("verify-bad", "/s", await inTurns(effort, invalid, valid), "share", { atLeast: 3 }),
  ];
}

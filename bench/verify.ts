import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { startFloor } from "./floor.ts";
import { type Request, startLoad } from "./load.ts";
import { type Effort, inTurns, judge, type Row } from "./measure.ts";
import { buy } from "./purchase.ts";
import { startAttestd, startNetworks } from "./server.ts";

/**
 * POST /verify of a valid bundle over 64 connections: the service's CPU time for one, beside that of a process that does
 * nothing but verify the signature with a key object that it keeps.
 */
export async function run(effort: Effort): Promise<Row[]> {
  await using networks = await startNetworks(1000);
  await using attestd = await startAttestd(networks.settingsFile);
  const { bundle } = await buy(attestd, networks);

  await using load = startLoad();
  const file = join(networks.dir, "bundle.json");
  await writeFile(file, bundle);
  await using floor = await startFloor("bare-verify.ts", [file]);
  const { seconds } = effort;
  const request: Request = { method: "POST", path: "/verify", body: bundle };
  const ours = load.cpu(attestd, request, { status: 200, seconds });
  return [judge("verify", "µs CPU", await inTurns(effort, ours, () => floor.cpu(seconds)), "share", { atMost: 2.5 })];
}

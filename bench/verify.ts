import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { startFloor } from "./floor.ts";
import { type Request, startLoad } from "./load.ts";
import { type Effort, inTurns, judge, type Row } from "./measure.ts";
import { buy } from "./purchase.ts";
import { startAttestd, startNetworks } from "./server.ts";

/**
 * POST /verify of a valid bundle over 64 connections: the service's CPU time for one, beside that of a process that does
 * nothing but verify the signature with a key object that it keeps; and the rate of a bundle that fails in its schema, beside
 * a valid one.
 */
export async function run(effort: Effort): Promise<Row[]> {
  await using networks = await startNetworks(1000);
  await using attestd = await startAttestd(networks.settingsFile);
  const { bundle } = await buy(attestd, networks);

  await using load = startLoad();
  const file = join(networks.dir, "bundle.json");
  await writeFile(file, bundle);
  await using floor = await startFloor("bare-verify.ts", 1, [file]);
  const { seconds } = effort;
  const request = (body: string): Request => ({ method: "POST", path: "/verify", body });
  const valid = request(bundle);
  const invalid = request(bundle.replace('"version":1', '"version":2'));
  const [fine, refused] = [
    { status: 200, seconds },
    { status: 400, seconds },
  ];
  const cpu = await inTurns(effort, load.cpu(attestd, valid, fine), () => floor.cpu(seconds));
  const rates = await inTurns(effort, load.rate(attestd.url, invalid, refused), load.rate(attestd.url, valid, fine));
  return [
    judge("verify", "µs CPU", cpu, "share", { atMost: 1.7 }),
    judge("verify-bad", "/s", rates, "share", { atLeast: 3 }),
  ];
}

import { type Request, startLoad } from "./load.ts";
import { type Effort, inTurns, judge, type Row } from "./measure.ts";
import { buy, paidCall } from "./purchase.ts";
import { blocksAtOnce, startAttestd, startNetworks } from "./server.ts";

const CONNECTIONS = 64;
const SECONDS = 1;

/**
 * One paid call while 64 connections hold a bundle against the chains again and again (`?chain=1`), beside one while as
 * many ask for `/health`: what remains is what verification takes from a sale, and not what the load itself does.
 */
export async function run(effort: Effort): Promise<Row[]> {
  await using networks = await startNetworks(0);
  using _ = blocksAtOnce(networks);
  await using attestd = await startAttestd(networks.settingsFile);
  const { bundle } = await buy(attestd, networks);
  await using load = startLoad();
  const call = paidCall(attestd, networks);
  const beside = (request: Request) => async () => {
    const loaded = load.run(attestd.url, [request], { connections: CONNECTIONS, seconds: SECONDS, status: [200, 503] });
    const ms = await call();
    await loaded;
    return ms;
  };
  const online = beside({ method: "POST", path: "/verify?chain=1", body: bundle });
  const health = beside({ method: "GET", path: "/health" });
  return [judge("verify-flood", "ms", await inTurns(effort, online, health), "share", { atMost: 1.5 })];
}

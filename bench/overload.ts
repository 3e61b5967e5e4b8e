import { startLoad } from "./load.ts";
import { type Effort, inTurns, judge, type Row } from "./measure.ts";
import { paidRequests } from "./purchase.ts";
import { startLimited, startNetworks } from "./server.ts";

const CARRIED = 32;
const TOO_MANY = 8 * CARRIED;

/**
 * The slowest of a hundred answers when eight times as many payments come at once as the service carries, which answers
 * the others with 503 before any money moves, beside the slowest when as many come as it carries.
 */
export async function run(effort: Effort): Promise<Row[]> {
  await using networks = await startNetworks(1000);
  await using service = await startLimited(networks.settingsFile, CARRIED);
  await using load = startLoad();
  const slowest = (count: number) => async () => {
    const requests = await paidRequests(service, networks, count);
    const { p99 } = await load.run(service.url, requests, { connections: count, status: [200, 503] });
    return p99;
  };
  const turns = await inTurns({ ...effort, turns: 3 }, slowest(TOO_MANY), slowest(CARRIED));
  return [judge("overload", "ms", turns, "share", { atMost: 2 })];
}

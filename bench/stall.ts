import { type Hostile, hostileTo, ROUTE_GROUPS } from "./hostile-bodies.ts";
import { type Effort, inTurns, judge, percentile, type Row } from "./measure.ts";
import { type Server, startBare, startNetworks } from "./server.ts";

/** How often a request is made at one time. */
const AT_ONCE = 4;
/** Of the 99.9th percentile, in ms. */
const GOAL_MS = 20;

/**
 * How long hostile bodies stall the event loop, over every transport: the 99.9th percentile, over all of them, of the longest
 * stall while one of them is answered, beside node:http that parses the same bodies where it reads them.
 */
export async function run(effort: Effort): Promise<Row[]> {
  await using networks = await startNetworks(1000);
  await using attestd = await startBare("stall-attestd.ts", [networks.settingsFile]);
  await using bare = await startBare("bare-stall.ts");
  const rows: Row[] = [];
  for (const group of ROUTE_GROUPS) {
    const requests = hostileTo(group);
    const turns = await inTurns(
      { ...effort, turns: Math.min(effort.turns, 3), warmUp: 1 },
      () => stallOf(attestd, requests),
      () => stallOf(bare, requests),
    );
    rows.push(judge(`stall-${group}`, "ms", turns, "share", { ours: GOAL_MS }));
  }
  return rows;
}

/** @returns ms */
async function stallOf(server: Server, requests: readonly Hostile[]): Promise<number> {
  const stalls: number[] = [];
  for (const request of requests) {
    await server.ask();
    await Promise.all(Array.from({ length: AT_ONCE }, () => send(server, request)));
    stalls.push((await server.ask()).stall);
  }
  return percentile(stalls, 0.999);
}

/** Whatever is answered, also that nothing more is read: how long it took is measured on the other side. */
async function send({ url }: Server, { path, body, headers }: Hostile): Promise<void> {
  try {
    const all = { "content-type": "application/json", ...headers };
    await (await fetch(url + path, { method: "POST", headers: all, body })).arrayBuffer();
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
  }
}

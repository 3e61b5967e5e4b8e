import { Agent, get, type IncomingMessage } from "node:http";
import { Algod } from "../packages/service/src/providers/algod.ts";
import { cpuTimed, type Effort, inTurns, judge, type Row } from "./measure.ts";
import { startNetworks, startReplies } from "./server.ts";

const EXCHANGES = 2_000;
const AT_ONCE = 16;
const PATH = "/v2/status";

/**
 * CPU time of small exchanges with a node, their deadline, their breaker and the form of the answer included, beside bare
 * node:http that reads the JSON.
 */
export async function run(effort: Effort): Promise<Row[]> {
  await using node = await startStatus();
  const algod = new Algod({ url: node.url }, "");
  const { signal } = new AbortController();
  const ours = () => algod.lastRound(signal);
  const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE });
  const theirs = () => bare(node.url + PATH, agent);
  const turns = await inTurns(
    { ...effort, warmUp: effort.warmUp + 2 },
    () => cpuTimed(() => many(ours)),
    () => cpuTimed(() => many(theirs)),
  );
  agent.destroy();
  const each = (ms: number) => (ms * 1000) / EXCHANGES;
  const perExchange = turns.map((turn) => ({ ours: each(turn.ours), yardstick: each(turn.yardstick) }));
  return [judge("upstream-cpu", "µs CPU", perExchange, "share", { atMost: 1.3 })];
}

function bare(url: string, agent: Agent): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const read = (answer: IncomingMessage) => {
      const pieces: Buffer[] = [];
      answer.on("data", (piece: Buffer) => pieces.push(piece)).on("error", reject);
      answer.on("end", () => resolve(JSON.parse(Buffer.concat(pieces).toString())));
    };
    get(url, { agent }, read).on("error", reject);
  });
}

/** A process that answers as the sandbox's node does. */
async function startStatus() {
  await using networks = await startNetworks(0);
  return await startReplies({ url: networks.sandbox.algodUrl }, { method: "GET", path: PATH });
}

async function many(exchange: () => Promise<unknown>): Promise<void> {
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (let i = 0; i < EXCHANGES / AT_ONCE; i++) await exchange();
    }),
  );
}

import { type Request, startLoad, type Turn } from "./load.ts";
import { type Effort, inTurns, judge, type Row } from "./measure.ts";
import { buy } from "./purchase.ts";
import { startAttestd, startNetworks, startReplies } from "./server.ts";

/**
 * An unpaid POST /attest, which is answered with 402, and the delivered bundle for a payment that is sent again: the CPU
 * time of each beside bare node:http that sends the same bytes. And the CPU time of the price of a batch of 1,000 transactions
 * beside that of one, over each transport.
 */
export async function run(effort: Effort): Promise<Row[]> {
  await using networks = await startNetworks(1000);
  await using attestd = await startAttestd(networks.settingsFile);
  const unpaid = { txid: networks.sandbox.sampleTransactions.base };
  const challenge: Request = { method: "POST", path: "/attest", body: JSON.stringify(unpaid) };
  const { replay } = await buy(attestd, networks);

  await using load = startLoad();
  const { seconds } = effort;
  const refused = { status: 402, seconds };
  const cpu = async (request: Request, turn: Turn) => {
    await using bare = await startReplies(attestd, request);
    return await inTurns(effort, load.cpu(attestd, request, turn), load.cpu(bare, request, turn));
  };
  const batches: Row[] = [];
  for (const [name, make, items] of BATCHES) {
    const [many, one] = [make("attest-batch", { items }), make("attest", unpaid)];
    const turn = { ...refused, status: name.endsWith("mcp") || name.endsWith("a2a") ? 200 : 402 };
    const turns = await inTurns(effort, load.cpu(attestd, many, turn), load.cpu(attestd, one, turn));
    batches.push(judge(name, "µs CPU", turns, "share", { atMost: 5 }));
  }
  return [
    judge("challenge", "µs CPU", await cpu(challenge, refused), "share", { atMost: 1.8 }),
    judge("replay-cpu", "µs CPU", await cpu(replay, { status: 200, seconds }), "share", { atMost: 1.3 }),
    ...batches,
  ];
}

type Ask = (name: string, args: object) => Request;

const overHttp: Ask = (name, args) => ({ method: "POST", path: `/${name}`, body: JSON.stringify(args) });

const overMcp: Ask = (name, args) => {
  const version = "2026-07-28";
  const tool = name.replaceAll("-", "_");
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": version,
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  return {
    method: "POST",
    path: "/mcp",
    headers: {
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": version,
      "mcp-method": "tools/call",
      "mcp-name": tool,
    },
    body: rpc("tools/call", { name: tool, arguments: args, _meta }),
  };
};

const overA2a: Ask = (name, args) => {
  const message = { role: "user", messageId: "m", parts: [{ kind: "data", data: { skill: name, ...args } }] };
  return { method: "POST", path: "/a2a", body: rpc("message/send", { message }) };
};

function rpc(method: string, params: object): string {
  return JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
}

/** As many transactions as a batch may have; a price asks for none of them. */
const MANY = Array.from({ length: 1000 }, (_, n) => ({ txid: `0x${(n + 4096).toString(16).repeat(16)}` }));
const WITH_CHAIN = MANY.map((item) => ({ ...item, chain: "base" }));
/** One id twice, which nobody notices before it is paid for. */
const TWICE = [...MANY.slice(1), ...MANY.slice(1, 2)];

const BATCHES: readonly (readonly [row: string, ask: Ask, items: readonly object[]])[] = [
  ["challenge-batch", overHttp, MANY],
  ["challenge-batch-chain", overHttp, WITH_CHAIN],
  ["challenge-batch-twice", overHttp, TWICE],
  ["challenge-batch-mcp", overMcp, MANY],
  ["challenge-batch-a2a", overA2a, MANY],
];

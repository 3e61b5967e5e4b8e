import { post } from "../test/e2e/deployment.ts";
import { type Request, startLoad, type Turn } from "./load.ts";
import { type Effort, inTurns, judge, type Row } from "./measure.ts";
import { buy } from "./purchase.ts";
import { startAttestd, startBare, startNetworks, startReplies } from "./server.ts";

/**
 * An unpaid POST /attest, which is answered with 402, and the delivered bundle for a payment that is sent again: the CPU
 * time of each beside bare node:http that sends the same bytes; the rate of the first beside the stock x402 middleware on
 * Hono with the same offers, and that of the second beside the first. And the CPU time of the 402 of a batch of 1,000
 * transactions beside that of one.
 */
export async function run(effort: Effort): Promise<Row[]> {
  await using networks = await startNetworks(1000);
  await using attestd = await startAttestd(networks.settingsFile);
  const { sandbox } = networks;
  const unpaid = { txid: sandbox.sampleTransactions.base };
  const challenge: Request = { method: "POST", path: "/attest", body: JSON.stringify(unpaid) };
  const { accepts } = (await post(`${attestd.url}/attest`, unpaid)).json;
  await using stock = await startBare("bare-x402.ts", [sandbox.facilitatorUrl, JSON.stringify(accepts)]);

  const { replay } = await buy(attestd, networks);

  await using load = startLoad();
  const { seconds } = effort;
  const refused = { status: 402, seconds };
  const cpu = async (request: Request, turn: Turn) => {
    await using bare = await startReplies(attestd, request);
    return await inTurns(effort, load.cpu(attestd, request, turn), load.cpu(bare, request, turn));
  };
  const ours = load.rate(attestd.url, challenge, refused);
  const theirs = load.rate(stock.url, challenge, refused);
  const batch: Request = { method: "POST", path: "/attest-batch", body: JSON.stringify({ items: manyItems() }) };
  const again = load.rate(attestd.url, replay, { status: 200, seconds });
  return [
    judge("challenge", "µs CPU", await cpu(challenge, refused), "share", { atMost: 1.2 }),
    judge("challenge-x402", "/s", await inTurns(effort, ours, theirs), "share", { atLeast: 5 }),
    judge(
      "challenge-batch",
      "µs CPU",
      await inTurns(effort, load.cpu(attestd, batch, refused), load.cpu(attestd, challenge, refused)),
      "share",
      { atMost: 5 },
    ),
    judge("replay", "/s", await inTurns(effort, again, ours), "share", { atLeast: 0.9 }),
    judge("replay-cpu", "µs CPU", await cpu(replay, { status: 200, seconds }), "share", { atMost: 1.2 }),
  ];
}

/** As many transactions as a batch may have; a price asks for none of them. */
function manyItems(): { txid: string }[] {
  return Array.from({ length: 1000 }, (_, n) => ({ txid: `0x${n.toString(16).padStart(8, "5").repeat(8)}` }));
}

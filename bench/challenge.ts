import { post } from "../test/e2e/deployment.ts";
import { type Request, startLoad } from "./load.ts";
import { type Effort, inTurns, judge, type Row } from "./measure.ts";
import { buy } from "./purchase.ts";
import { startAttestd, startBare, startNetworks, startReplies } from "./server.ts";

/**
 * An unpaid POST /attest, which is answered with 402: its CPU time beside bare node:http that sends the same bytes, and its
 * rate beside the stock x402 middleware on Hono with the same offers; and the delivered bundle for a payment that is sent
 * again, beside such a 402.
 */
export async function run(effort: Effort): Promise<Row[]> {
  await using networks = await startNetworks(1000);
  await using attestd = await startAttestd(networks.settingsFile);
  const { sandbox } = networks;
  const unpaid = { txid: sandbox.sampleTransactions.base };
  const challenge: Request = { method: "POST", path: "/attest", body: JSON.stringify(unpaid) };
  const { accepts } = (await post(`${attestd.url}/attest`, unpaid)).json;
  await using bare = await startReplies(attestd, challenge);
  await using stock = await startBare("bare-x402.ts", [sandbox.facilitatorUrl, JSON.stringify(accepts)]);

  const { replay } = await buy(attestd, networks);

  await using load = startLoad();
  const { seconds } = effort;
  const refused = { status: 402, seconds };
  const ours = load.rate(attestd.url, challenge, refused);
  const theirs = load.rate(stock.url, challenge, refused);
  const again = load.rate(attestd.url, replay, { status: 200, seconds });
  const cpu = await inTurns(effort, load.cpu(attestd, challenge, refused), load.cpu(bare, challenge, refused));
  return [
    judge("challenge", "µs CPU", cpu, "share", { atMost: 1.2 }),
    judge("challenge-x402", "/s", await inTurns(effort, ours, theirs), "share", { atLeast: 5 }),
    judge("replay", "/s", await inTurns(effort, again, ours), "share", { atLeast: 0.9 }),
  ];
}

import { encodePaymentSignatureHeader } from "@x402/core/http";
import { algorandClient, pay, post, sign } from "../packages/attestd/test/world.ts";
import { type Request, startLoad } from "./load.ts";
import { type Effort, inTurns, judge, type Row } from "./measure.ts";
import { startAttestd, startBare, startNetworks } from "./server.ts";

const CONNECTIONS = 64;

/**
 * An unpaid POST /attest, which is answered with 402, beside the stock x402 middleware on Hono with the same offers; and
 * the delivered bundle for a payment that is sent again, beside such a 402.
 */
export async function run(effort: Effort): Promise<Row[]> {
  await using networks = await startNetworks(1000);
  await using attestd = await startAttestd(networks.settingsFile);
  const { sandbox } = networks;
  const unpaid = { txid: sandbox.sampleTransactions.base };
  const { accepts } = (await post(`${attestd.url}/attest`, unpaid)).json;
  await using stock = await startBare("bare-x402.ts", [sandbox.facilitatorUrl, JSON.stringify(accepts)]);

  const paid = { txid: sandbox.sampleTransactions.algorand };
  const payment = await sign(`${attestd.url}/attest`, paid, algorandClient(sandbox));
  const { status, text } = await pay(`${attestd.url}/attest`, paid, payment);
  if (status !== 200) throw new Error(`no bundle: ${text}`);

  await using load = startLoad();
  const rate = (url: string, request: Request, expected: number) => async () => {
    const { seconds } = effort;
    const result = await load.run(url, [request], { connections: CONNECTIONS, seconds, status: expected });
    return result.answered / result.seconds;
  };
  const challenge: Request = { method: "POST", path: "/attest", body: JSON.stringify(unpaid) };
  const replay: Request = {
    method: "POST",
    path: "/attest",
    body: JSON.stringify(paid),
    headers: { "payment-signature": encodePaymentSignatureHeader(payment) },
  };
  const ours = rate(attestd.url, challenge, 402);
  return [
    judge("challenge", "/s", await inTurns(effort, ours, rate(stock.url, challenge, 402)), "share", { atLeast: 5 }),
    judge("replay", "/s", await inTurns(effort, rate(attestd.url, replay, 200), ours), "share", { atLeast: 0.8 }),
  ];
}

import type { PaymentPayload } from "@x402/core/types";
import { json, Upstream } from "../providers.ts";
import { type Iou, NETWORK } from "./iou.ts";

/** A node of the Moon, which is also its facilitator, on loopback HTTP. */
export async function startMoon() {
  /** The paid IOUs: the first is in crater 1. */
  const craters: Iou[] = [];
  const node = await Upstream.start((request, response) => {
    const { pathname } = new URL(request.url ?? "", "http://moon");
    if (pathname === "/craters") return json(response, craters);
    if (pathname === "/supported") {
      const extra = { feePayer: "man-in-the-moon" };
      return json(response, { kinds: [{ x402Version: 2, scheme: "exact", network: NETWORK, extra }] });
    }
    const { paymentPayload } = JSON.parse(request.body.toString()) as { paymentPayload: PaymentPayload };
    if (pathname === "/verify") return json(response, { isValid: paymentPayload.accepted.network === NETWORK });
    craters.push(paymentPayload.payload as Iou);
    json(response, { success: true, transaction: `crater-${craters.length}`, network: NETWORK });
  });
  return { url: node.url, craters, requests: node.requests, close: () => node.close() };
}

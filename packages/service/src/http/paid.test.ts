import { expect, test, vi } from "vitest";
import { ask } from "../../test/fakes/transport.ts";
import { CATALOGUE } from "../catalogue/catalogue.ts";
import { createOffers, type Offers } from "../payment/offers.ts";
import { ANY_SALE } from "../payment/sale.ts";
import { paidHandler } from "./paid.ts";

test("the price of a batch is answered without its items being read, compared or hashed", async () => {
  const offers = createOffers({ itemPrice: 100n, rails: [], maxTimeoutSeconds: 1, now: Date.now });
  const priced = vi.spyOn(offers, "for").mockReturnValue([{} as ReturnType<Offers["for"]>[number]]);
  const sale = { chains: ["base" as const], items: 1000 };
  const subject = vi.fn(() => {
    throw new Error("the whole request was read");
  });
  const operation = { kind: "paid" as const, probe: ANY_SALE, subject, sale: () => sale };
  const admit = vi.fn();
  const handle = paidHandler(CATALOGUE.attestBatch, operation, { admit, offers, origin: "https://attestd.example" });
  const headers = { "content-type": "application/json" };
  const answer = await ask({ method: "POST", path: "/attest-batch", handle }, { headers, body: "{}" });
  expect(answer.status).toBe(402);
  expect(priced).toHaveBeenCalledWith(sale);
  expect([subject, admit].map(({ mock }) => mock.calls.length)).toEqual([0, 0]);
});

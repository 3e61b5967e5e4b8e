import { expect, test, vi } from "vitest";
import { ask } from "../../../test/fakes/transport.ts";
import { CATALOGUE } from "../../catalogue/catalogue.ts";
import { LongList } from "../../catalogue/long-list.ts";
import { createOffers, type Offers } from "../../payment/offers.ts";
import { ANY_SALE } from "../../payment/sale.ts";
import { paidHandler } from "./paid.ts";

test("the price of a long list is answered without its items being read", async () => {
  const offers = createOffers({ itemPrice: 100n, rails: [], maxTimeoutSeconds: 1, now: Date.now });
  const priced = vi.spyOn(offers, "for").mockReturnValue([{} as ReturnType<Offers["for"]>[number]]);
  const sale = { chains: ["base" as const], items: 1000 };
  const subject = vi.fn(() => {
    throw new Error("the whole request was read");
  });
  const priceOf = vi.fn(() => sale);
  const operation = { kind: "paid" as const, probe: ANY_SALE, subject, sale: priceOf };
  const admit = vi.fn();
  const handle = paidHandler(CATALOGUE.attestBatch, operation, { admit, offers, origin: "https://attestd.example" });
  const headers = { "content-type": "application/json" };
  const body = JSON.stringify({ items: Array.from({ length: 1000 }, () => ({ txid: "ID" })) });
  const answer = await ask({ method: "POST", path: "/attest-batch", handle }, { headers, body });
  expect(answer.status).toBe(402);
  expect(priceOf).toHaveBeenCalledWith({ items: expect.any(LongList) });
  expect(priced).toHaveBeenCalledWith(sale);
  expect([subject, admit].map(({ mock }) => mock.calls.length)).toEqual([0, 0]);
});

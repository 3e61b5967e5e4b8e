import algosdk from "algosdk";
import { describe, expect, test } from "vitest";
import { ALGORAND_OFFER, BASE_OFFER } from "../test/fake-service.ts";
import { canBeTaken, clockError, clockSentence, paymentDate, takenUntil } from "./lifetime.ts";

const NOW = 1_800_000_000_000;
const SOLANA = "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp";
const MINUTE = 60_000;

describe("a payment counts as one that can be taken", () => {
  const base = (validBefore: unknown) => ({ authorization: { validBefore } });
  const until = (payload: object, aheadMs = 0) =>
    takenUntil(BASE_OFFER.network, payload as Record<string, unknown>, NOW, aheadMs);

  test("on Base until a minute after its validBefore, by the later of the device's clock and the service's", () => {
    const validBefore = String(NOW / 1000 + 120);
    expect(until(base(validBefore))).toBe(NOW + 120_000 + MINUTE);
    // The service's clock is ahead: by the device's own clock the payment is valid for longer.
    expect(until(base(validBefore), 3_600_000)).toBe(NOW + 120_000 + MINUTE);
    // The service's clock is behind: by that clock the payment is valid for an hour more.
    expect(until(base(validBefore), -3_600_000)).toBe(NOW + 120_000 + 3_600_000 + MINUTE);
  });

  test("on Algorand for its rounds at 10 s each, as algosdk writes them", () => {
    const account = algosdk.generateAccount();
    const transaction = (firstValid: number, lastValid: number) =>
      algosdk.makeAssetTransferTxnWithSuggestedParamsFromObject({
        sender: account.addr,
        receiver: account.addr,
        assetIndex: 31566704,
        amount: 1000,
        suggestedParams: { fee: 0, minFee: 1000, firstValid, lastValid, genesisHash: new Uint8Array(32).fill(7) },
      });
    const group = (txn: algosdk.Transaction) => ({
      paymentGroup: ["not the payer's", Buffer.from(txn.signTxn(account.sk)).toString("base64")],
      paymentIndex: 1,
    });
    const until = (from: number, to: number) =>
      takenUntil(ALGORAND_OFFER.network, group(transaction(from, to)), NOW, 3_600_000);
    expect(until(1000, 1010)).toBe(NOW + 11 * 10_000 + MINUTE);
    expect(until(1000, 2000)).toBe(NOW + 1001 * 10_000 + MINUTE);
  });

  test("on Solana for five minutes, whatever the clocks", () => {
    expect(takenUntil(SOLANA, { transaction: "AA==" }, NOW, 3_600_000)).toBe(NOW + 300_000 + MINUTE);
  });

  test.each<[string, string, object]>([
    ["Base", BASE_OFFER.network, {}],
    ["Base, without an end", BASE_OFFER.network, base(undefined)],
    ["Base, with an empty end", BASE_OFFER.network, base("")],
    ["Base, of Permit2", BASE_OFFER.network, { permit2Authorization: { deadline: "1" } }],
    ["Algorand", ALGORAND_OFFER.network, {}],
    ["Algorand, unsigned", ALGORAND_OFFER.network, { paymentGroup: ["gA=="], paymentIndex: 0 }],
    ["Solana", SOLANA, {}],
    ["another network", "eip155:1", base("1")],
  ])("and is not sent when it does not say for how long: %s", (_, network, payload) => {
    expect(() => takenUntil(network, payload as Record<string, unknown>, NOW, 0)).toThrow(
      "not a payment on this network",
    );
  });

  test("also when no end was stored", () => {
    expect(canBeTaken({ until: NOW }, NOW - 1)).toBe(true);
    expect(canBeTaken({ until: NOW }, NOW)).toBe(false);
    expect(canBeTaken({} as { until: number }, NOW)).toBe(true);
  });
});

describe("a payment is dated", () => {
  const header = (aheadMs: number) => new Date(NOW + aheadMs).toUTCString();

  test.each([
    [0, 0],
    [30_000, 0],
    [-30_000, 0],
    [31_000, 31_000],
    [-3_600_000, -3_600_000],
  ])("by the service's clock where that differs by more than 30 s: %d ms", (aheadMs, error) => {
    expect(clockError(header(aheadMs), NOW)).toBe(error);
    expect(paymentDate(BASE_OFFER.network, NOW, error)).toBe(NOW + error);
  });

  test.each([null, "", "yesterday"])("by the device's where the service's Date is %j", (date) => {
    expect(clockError(date, NOW)).toBe(0);
  });

  test("by no clock more than a day from the device's, on Base alone", () => {
    expect(paymentDate(BASE_OFFER.network, NOW, 86_400_000)).toBe(NOW + 86_400_000);
    expect(() => paymentDate(BASE_OFFER.network, NOW, 86_401_000)).toThrow("86,401 s behind the service's");
    expect(() => paymentDate(BASE_OFFER.network, NOW, -86_401_000)).toThrow("86,401 s ahead of the service's");
    expect(paymentDate(ALGORAND_OFFER.network, NOW, 86_401_000)).toBe(NOW);
    expect(paymentDate(SOLANA, NOW, 86_401_000)).toBe(NOW);
  });

  test("and the sentence names the seconds", () => {
    expect(clockSentence(100_400)).toBe("This device's clock is 100 s behind the service's");
  });
});

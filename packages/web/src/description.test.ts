import { existsSync, readFileSync } from "node:fs";
import { fromBase64, fromHex } from "@attestd/proof/encoding";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { testBaseBlock, testBlockBundle, testBundle, testInclusionBundle } from "../../../test/bundles/bundles.ts";
import { usdcTransfer } from "../example.ts";
import { describeAlgorandTransaction } from "./algorand-transaction.ts";
import { describeBaseTransaction } from "./base-transaction.ts";
import { subjectOf, subjectTitle } from "./description.ts";
import { estimatedMonth, formatUnits } from "./display.ts";

describe("the description of a subject", () => {
  test.each([
    [testBundle(), "ALGO payment on Algorand, 1.00 ALGO"],
    [testBundle({ chain: "base", txnBytes: usdcTransfer() }), "USDC transfer on Base, 25.00 USDC"],
    [testBlockBundle(), "Block 256 of Algorand"],
    [testInclusionBundle({ block: testBaseBlock(2) }), "ETH transfer on Base, 0.000000000000000005 ETH"],
  ])("%#: %s", (bundle, title) => {
    expect(subjectTitle(subjectOf(bundle))).toBe(title);
  });

  test("names the receiver of a token transfer", () => {
    const { fields } = describeBaseTransaction(usdcTransfer());
    expect(fields).toContainEqual({
      label: "Token's receiver",
      value: `0x${Buffer.from("receiver-of-25-usdc!").toString("hex")}`,
    });
    expect(fields).toContainEqual({ label: "Chain id", value: "8453" });
  });

  test("describes bytes that are not a transaction without an error", () => {
    const proof = testBundle();
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 200 }), (bytes) => {
        const source = { ...proof.source, txnBytesBase64: Buffer.from(bytes).toString("base64") };
        for (const chain of ["algorand", "base"] as const) {
          const bundle = { ...proof, source: { ...source, chain } };
          expect(subjectTitle(subjectOf(bundle))).toMatch(/ on (Algorand|Base)/);
        }
      }),
    );
  });
});

const folder = process.env.ATTESTD_VECTORS;
const hasVectors = folder !== undefined && existsSync(folder);
if (!hasVectors) console.log("ATTESTD_VECTORS is not set: describing real transactions is skipped");

describe.skipIf(!hasVectors)("real transactions", () => {
  const read = (path: string) => JSON.parse(readFileSync(`${folder}/${path}`, "utf8"));

  test("of Algorand MainNet are described", () => {
    const actions = read("algorand/mainnet/signed-transactions.json").map((one: Record<string, string>) => {
      const bytes = fromBase64(one.txnMsgpackBase64 ?? one.txn ?? "");
      return describeAlgorandTransaction(bytes).action;
    });
    expect(new Set(actions)).toEqual(new Set(["Asset transfer", "ALGO payment", "Asset configuration"]));
  });

  test("of Base are described: a deposit", () => {
    const { raw } = read("base/base-mainnet-45733726-tx0-deposit.json");
    if (typeof raw === "string") {
      const { action, fields } = describeBaseTransaction(fromHex(raw.slice(2)));
      expect(action).toBe("Deposit from Ethereum");
      expect(fields).toContainEqual({ label: "Type", value: "deposit (OP Stack)" });
    }
  });
});

test("formatUnits is exact for every amount", () => {
  expect(formatUnits(0n, 6, 2)).toBe("0.00");
  expect(formatUnits(1n, 6, 2)).toBe("0.000001");
  expect(formatUnits(25_000_000n, 6, 2)).toBe("25.00");
  expect(formatUnits(1_234_567_890_000n, 6)).toBe("1,234,567.89");
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }), fc.integer({ min: 1, max: 18 }), (units, decimals) => {
      const [whole = "", fraction = ""] = formatUnits(units, decimals).replaceAll(",", "").split(".");
      expect(BigInt(whole + fraction.padEnd(decimals, "0"))).toBe(units);
    }),
  );
});

test("a month is estimated only for MainNet", () => {
  const mainnet = "algorand:wGHE2Pwdvd7S12BL5FaOP20EGYesN73k";
  // The header of this round says 25 July 2024.
  expect(estimatedMonth(41_000_000, mainnet)).toBe("about July 2024");
  expect(estimatedMonth(1000, mainnet)).toBeUndefined();
  expect(estimatedMonth(41_000_000, "algorand:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA")).toBeUndefined();
});

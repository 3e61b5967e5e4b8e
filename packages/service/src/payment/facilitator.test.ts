import { HTTPFacilitatorClient } from "@x402/core/http";
import type { PaymentPayload, PaymentRequirements } from "@x402/core/types";
import { SettleError, VerifyError } from "@x402/core/types";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { serviceError } from "../../test/errors.ts";
import { Upstream } from "../../test/fakes/providers.ts";
import { httpFacilitator } from "./facilitator.ts";

let upstream: Upstream;
beforeAll(async () => {
  upstream = await Upstream.start((_, response) => response.end());
});
afterAll(() => upstream.close());

const PAYMENT = { x402Version: 2 } as PaymentPayload;
const REQUIREMENT = { network: "eip155:8453" } as unknown as PaymentRequirements;
const soon = () => AbortSignal.timeout(5_000);
const ours = () => httpFacilitator({ url: upstream.url, auth: { kind: "none" } });
const verify = (signal = soon()) => ours().verify(PAYMENT, REQUIREMENT, signal);
const settle = (signal = soon()) => ours().settle(PAYMENT, REQUIREMENT, signal);

/** Makes the upstream give this answer to everything. */
function answering(status: number, body: string): void {
  upstream.handler = (_, response) => response.writeHead(status, { "content-type": "application/json" }).end(body);
}

/** How a client reads an answer: as a verdict, or as none. */
type Reading = "yes" | "no" | "no answer";

/** Reads with the stock package: with a failure's status, a verdict is a refusal. */
async function stockReading(operation: "verify" | "settle"): Promise<Reading> {
  const client = new HTTPFacilitatorClient({ url: upstream.url, timeoutMs: 5_000 });
  try {
    if (operation === "verify") return (await client.verify(PAYMENT, REQUIREMENT)).isValid ? "yes" : "no";
    return (await client.settle(PAYMENT, REQUIREMENT)).success ? "yes" : "no";
  } catch (error) {
    return error instanceof VerifyError || error instanceof SettleError ? "no" : "no answer";
  }
}

async function ourReading(operation: "verify" | "settle"): Promise<Reading> {
  try {
    if (operation === "verify") return (await verify()).valid ? "yes" : "no";
    return (await settle()).success ? "yes" : "no";
  } catch (error) {
    expect(error).toEqual(serviceError("facilitator_failed"));
    return "no answer";
  }
}

const TRANSACTION = "0x8d1c4b3d2f6f0a9b7a55c1de9f4c6c0f6a7b7a0d3b0f3f1e2d4c5b6a79880102";
const PAYER = "0x857b06519E91e3A54538791bDbb0E22373e36b66";

/**
 * By facilitator: status, body, and its meaning. The shapes are from their published schemas and from observed answers.
 */
const VERIFY_ANSWERS: [string, number, unknown][] = [
  ["CDP: valid", 200, { isValid: true, payer: PAYER }],
  ["CDP: invalid", 200, { isValid: false, invalidReason: "insufficient_funds", payer: PAYER }],
  ["CDP: screened", 200, { isValid: false, invalidReason: "kyt_risk_detected", invalidMessage: "", payer: PAYER }],
  ["CDP: invalid under 400", 400, { isValid: false, invalidReason: "invalid_payload", payer: "" }],
  ["CDP: a long description", 400, { errorType: "invalid_request", errorMessage: "description: maxLength 500" }],
  ["CDP: a key that is not allowed here", 401, { errorType: "unauthorized", errorMessage: "Unauthorized." }],
  ["PayAI: valid", 200, { isValid: true, invalidReason: null, payer: PAYER, extra: null, extensions: {} }],
  ["PayAI: free tier used up", 403, { error: "free_tier_exhausted" }],
  ["PayAI: too many requests", 429, { error: "rate_limited" }],
  ["GoPlausible: valid", 200, { isValid: true, payer: "RUIMGV" }],
  ["Circle: valid", 200, { isValid: true, payer: PAYER, extensions: null }],
  ["Circle: trial used up", 403, { code: "registration_required", message: "Register to go on." }],
  [
    "x402.org, in Python: valid",
    200,
    { isValid: true, invalidReason: null, invalidMessage: null, payer: null, extra: null },
  ],
  ["x402.org, in Python: invalid", 200, { isValid: false, invalidReason: null, invalidMessage: null, payer: null }],
  ["x402.org: a malformed body", 500, { error: "Internal Server Error" }],
  ["any: a verdict that is no boolean", 200, { isValid: "true" }],
  ["any: a reason that is no text", 200, { isValid: false, invalidReason: 7 }],
];

const SETTLE_ANSWERS: [string, number, unknown][] = [
  [
    "CDP: settled",
    200,
    { success: true, payer: PAYER, transaction: TRANSACTION, network: "eip155:8453", amount: "1000" },
  ],
  [
    "CDP: pending",
    200,
    { success: false, errorReason: "settlement_pending", transaction: TRANSACTION, network: "eip155:8453" },
  ],
  [
    "CDP: refused under 400",
    400,
    { success: false, errorReason: "settle_exact_failed_onchain", transaction: "", network: "eip155:8453" },
  ],
  ["CDP: no verdict", 400, { errorType: "invalid_request", errorMessage: "description: maxLength 500" }],
  [
    "PayAI: settled",
    200,
    { success: true, errorReason: null, payer: PAYER, transaction: TRANSACTION, network: "eip155:8453", amount: null },
  ],
  [
    "PayAI: pending on Solana",
    200,
    {
      success: false,
      errorReason: "settlement_pending",
      errorMessage: null,
      transaction: "",
      network: "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp",
    },
  ],
  [
    "PayAI: a repeat",
    409,
    { success: false, errorReason: "duplicate_settlement", transaction: "", network: "eip155:8453" },
  ],
  ["PayAI: free tier used up", 403, { error: "free_tier_exhausted" }],
  [
    "GoPlausible: settled",
    200,
    { success: true, transaction: "XVEG7T", network: "algorand:wGHE2Pwdvd7S12BL5FaOP20EGYesN73k", payer: "RUIMGV" },
  ],
  [
    "Circle: settled",
    200,
    { success: true, transaction: TRANSACTION, network: "eip155:8453", payer: PAYER, extensions: null, extra: null },
  ],
  ["Circle: trial used up", 403, { code: "registration_required" }],
  [
    "x402.org, in Python: settled",
    200,
    {
      success: true,
      errorReason: null,
      errorMessage: null,
      payer: null,
      transaction: TRANSACTION,
      network: "eip155:8453",
      extra: null,
      extensions: null,
    },
  ],
];

describe("an answer of a facilitator is read as @x402/core reads it", () => {
  test.each(VERIFY_ANSWERS)("to verify: %s", async (_, status, body) => {
    answering(status, JSON.stringify(body));
    expect(await ourReading("verify")).toBe(await stockReading("verify"));
  });

  test.each(SETTLE_ANSWERS)("to settle: %s", async (_, status, body) => {
    answering(status, JSON.stringify(body));
    expect(await ourReading("settle")).toBe(await stockReading("settle"));
  });

  test.each<[string, unknown[]]>([
    [
      "CDP",
      [
        { x402Version: 2, scheme: "exact", network: "eip155:8453" },
        { x402Version: 1, scheme: "exact", network: "base" },
      ],
    ],
    [
      "PayAI",
      [
        {
          x402Version: 2,
          scheme: "exact",
          network: "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp",
          extra: { feePayer: "2wKup", recentBlockhash: "9xQ", lastValidBlockHeight: 350_123_456 },
        },
      ],
    ],
    [
      "GoPlausible",
      [
        {
          x402Version: 2,
          scheme: "exact",
          network: "algorand:wGHE2Pwdvd7S12BL5FaOP20EGYesN73k",
          extra: { feePayer: "RUIMGV" },
        },
      ],
    ],
    ["Circle", [{ x402Version: 2, scheme: "exact", network: "eip155:8453", extra: { name: "GatewayWalletBatched" } }]],
    [
      "x402.org, in Python",
      [
        { x402Version: 2, scheme: "exact", network: "eip155:8453", extra: null },
        { x402Version: 2, scheme: "upto", network: "eip155:8453", extra: null },
      ],
    ],
  ])("to supported: %s", async (_, kinds) => {
    answering(200, JSON.stringify({ kinds, extensions: [], signers: {} }));
    const stock = await new HTTPFacilitatorClient({ url: upstream.url }).getSupported();
    const expected = stock.kinds
      .filter(({ x402Version, scheme }) => x402Version === 2 && scheme === "exact")
      .map(({ network, extra }) => ({ network, extra: extra ?? {} }));
    expect(await ours().supported(soon())).toEqual(expected);
  });
});

test.each<[string, number, object, object]>([
  ["settlement_pending", 200, { transaction: TRANSACTION }, { isPending: true, transaction: TRANSACTION }],
  ["settlement_pending", 200, { transaction: 7 }, { isPending: true }],
  ["settlement_pending", 200, { transaction: "x".repeat(129) }, { isPending: true }],
  ["settlement_pending", 200, { transaction: "" }, { isPending: true }],
  ["settlement_pending", 503, { transaction: "" }, { isPending: true }],
  ["duplicate_settlement", 409, { transaction: "" }, { isPending: true }],
  ["settle_exact_svm_block_height_exceeded", 400, { transaction: "" }, {}],
  ["insufficient_funds", 200, { transaction: "" }, {}],
])("a settlement that failed with %s under %i is under way or not", async (errorReason, status, more, expected) => {
  answering(status, JSON.stringify({ success: false, errorReason, network: "eip155:8453", ...more }));
  expect(await settle()).toEqual({ success: false, reason: errorReason, ...expected });
});

test.each([
  ["PayAI: a token that is not good", 401, "unauthorized"],
  ["PayAI: free tier used up", 403, "free_tier_exhausted"],
  ["any: too many requests", 429, "rate_limited"],
  ["PayAI: a defect", 500, "unexpected_error"],
  ["any: no upstream", 503, "unavailable"],
])(
  "%s is no verdict on a payment, though it has the form of one, which @x402/core believes",
  async (_, status, reason) => {
    answering(status, JSON.stringify({ isValid: false, invalidReason: reason, success: false, errorReason: reason }));
    const error = expect.objectContaining({ code: "facilitator_failed", details: { ending: status } });
    await expect(verify()).rejects.toEqual(error);
    await expect(settle()).rejects.toEqual(error);
    expect(await stockReading("verify")).toBe("no");
  },
);

test.each([
  ["of Base", TRANSACTION, TRANSACTION],
  ["in base58", "5".repeat(88), "5".repeat(88)],
  ["that is empty", "", undefined],
  ["that is no text", 7, undefined],
  ["that is null", null, undefined],
  ["with spaces and more", "0x1 ; drop", undefined],
  ["of 101 characters", "a".repeat(101), undefined],
])("a settlement's transaction %s is passed on where it may be one", async (_, transaction, expected) => {
  answering(200, JSON.stringify({ success: true, network: "eip155:8453", transaction }));
  expect(await settle()).toEqual({ success: true, ...(expected !== undefined && { transaction: expected }) });
});

test("a kind that cannot be read does not hide the others", async () => {
  const kind = { x402Version: 2, scheme: "exact", network: "eip155:8453" };
  answering(200, JSON.stringify({ kinds: [null, 7, { ...kind, network: null }, kind] }));
  expect(await ours().supported(soon())).toEqual([{ network: "eip155:8453", extra: {} }]);
});

test("a verdict for the payer counts only with a success status", async () => {
  answering(500, '{"isValid":true}');
  await expect(verify()).rejects.toThrow(serviceError("facilitator_failed"));
  answering(402, '{"success":true,"transaction":"X","network":"N"}');
  expect(await settle()).toEqual({ success: false, transaction: "X" });
});

test.each([
  ["no JSON", 200, "<html>"],
  ["nothing", 200, ""],
  ["another shape", 200, '{"isValid":"yes"}'],
  ["null", 200, "null"],
  ["a list", 200, '[{"isValid":true}]'],
  ["bytes that are no text", 200, "\xff"],
])("%s is no answer", async (_, status, body) => {
  answering(status, body);
  await expect(verify()).rejects.toThrow(serviceError("facilitator_failed"));
  await expect(settle()).rejects.toThrow(serviceError("facilitator_failed"));
});

test("the text of a failure is logged as one short line", async () => {
  answering(
    403,
    JSON.stringify({ code: "registration_required", message: `a\n\u0000\u001b[31mb ${"x".repeat(9_000)}` }),
  );
  const error = await verify().catch((error: Error) => error);
  expect(error).toMatchObject({ message: expect.stringContaining('HTTP 403: {"code":"registration_required"') });
  expect((error as Error).message.length).toBeLessThan(400);
  expect((error as Error).message).not.toMatch(/\p{C}/u);
});

test("no answer until the caller's deadline is a failure of the facilitator; a caller that aborts gets its own reason", async () => {
  upstream.handler = () => undefined;
  await expect(verify(AbortSignal.timeout(20))).rejects.toThrow(serviceError("facilitator_failed"));
  const reason = new Error("stopping");
  await expect(verify(AbortSignal.abort(reason))).rejects.toBe(reason);
});

import type { PaymentPayload } from "@x402/core/types";
import {
  declarePaymentIdentifierExtension,
  extractPaymentIdentifier,
  PAYMENT_IDENTIFIER,
} from "@x402/extensions/payment-identifier";
import fc from "fast-check";
import { expect, test } from "vitest";
import { DECLARED_EXTENSIONS, identifierAlias } from "./identifier.ts";

const by = { rail: "base", payer: "0xPAYER" } as const;

test("offers declare the stock extension", () => {
  expect(JSON.stringify(DECLARED_EXTENSIONS)).toBe(
    JSON.stringify({ [PAYMENT_IDENTIFIER]: declarePaymentIdentifierExtension(false) }),
  );
});

test("identifiers are those that the stock package finds, whatever the extension contains", () => {
  const id = fc.oneof(fc.string({ maxLength: 140 }), fc.stringMatching(/^[a-zA-Z0-9_-]{10,140}$/), fc.anything());
  const extension = fc.oneof(fc.record({ info: fc.record({ id }) }), fc.anything());
  fc.assert(
    fc.property(extension, (sent) => {
      const payload = { x402Version: 2, extensions: { [PAYMENT_IDENTIFIER]: sent } } as unknown as PaymentPayload;
      const found = extractPaymentIdentifier(payload);
      const alias = found === null ? undefined : `payment-identifier/base/0xpayer/${found}/3`;
      expect(identifierAlias({ ...by, payload }, 3)).toBe(alias);
    }),
  );
  expect(identifierAlias({ ...by, payload: { x402Version: 2 } as PaymentPayload }, 0)).toBeUndefined();
});

import type { Payment } from "./rails/rail.ts";

/** The name of an x402 extension by which a payer names its purchase. */
const EXTENSION = "payment-identifier";
const FORM = { minLength: 16, maxLength: 128, pattern: "^[a-zA-Z0-9_-]+$" };
const IDENTIFIER = new RegExp(FORM.pattern);

/**
 * What every offer declares beside its options (x402 v2, `extensions`): a payer may name its purchase.
 *
 * Written out, as the stock package would give it (identifier.test.ts): that one brings a JSON Schema validator along.
 */
export const DECLARED_EXTENSIONS = {
  [EXTENSION]: {
    info: { required: false },
    schema: {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      type: "object",
      properties: { required: { type: "boolean" }, id: { type: "string", ...FORM } },
      required: ["required"],
    },
  },
};

/**
 * The alias by which a purchase that its payer has named is found again, when the payment itself is another one.
 *
 * The name is the payer's own, so it counts within that payer alone, and only once the payment is known to be signed by
 * it. It stands beside the payment key and never in its place.
 *
 * @param attempt raised by one for every earlier purchase of that name which came to nothing (`void`)
 * @returns undefined when the payment has no well-formed identifier
 */
export function identifierAlias(
  { rail, payer, payload }: Pick<Payment, "rail" | "payer" | "payload">,
  attempt: number,
): string | undefined {
  const id = identifierOf(payload.extensions?.[EXTENSION]);
  return id && `payment-identifier/${rail}/${payer.toLowerCase()}/${id}/${attempt}`;
}

/** @param extension as the payer sent it: anything */
function identifierOf(extension: unknown): string | undefined {
  const id = (extension as { info?: { id?: unknown } | null } | null | undefined)?.info?.id;
  if (typeof id !== "string" || id.length < FORM.minLength || id.length > FORM.maxLength) return undefined;
  return IDENTIFIER.test(id) ? id : undefined;
}

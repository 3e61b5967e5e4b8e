import type { Payment } from "./rails/rail.ts";

/** The x402 extension in which a payer names its purchase. */
const EXTENSION = "payment-identifier";
const FORM = { minLength: 16, maxLength: 128, pattern: "^[a-zA-Z0-9_-]+$" };
const IDENTIFIER = new RegExp(FORM.pattern);

/**
 * The `extensions` in every 402 (x402 v2): a payer may name its purchase. The stock package would return the same
 * (identifier.test.ts), but loads a JSON Schema validator.
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
 * Returns the alias that finds a named purchase again when its payer sends another payment for it.
 *
 * Use it only after verifying the payer's signature, because the name counts only for that payer. It is stored in
 * addition to the payment key, never instead of it.
 * @param attempt the number of earlier purchases with that name that became `void`
 * @returns undefined when the payment has no well-formed identifier
 */
export function identifierAlias(
  { rail, payer, payload }: Pick<Payment, "rail" | "payer" | "payload">,
  attempt: number,
): string | undefined {
  const id = identifierOf(payload.extensions?.[EXTENSION]);
  return id && `payment-identifier/${rail}/${payer.toLowerCase()}/${id}/${attempt}`;
}

/** @param extension unchecked */
function identifierOf(extension: unknown): string | undefined {
  const id = (extension as { info?: { id?: unknown } | null } | null | undefined)?.info?.id;
  if (typeof id !== "string" || id.length < FORM.minLength || id.length > FORM.maxLength) return undefined;
  return IDENTIFIER.test(id) ? id : undefined;
}

import { identifierAlias } from "../payment/identifier.ts";
import type { Payment } from "../payment/rails/rail.ts";
import type { Call } from "./call.ts";
import type { Journal } from "./journal.ts";

/** The names that transport and payer gave a purchase, and the earlier purchase that has one of them. */
export async function namesOf(
  journal: Pick<Journal, "find">,
  payment: Payment,
  name: string | undefined,
): Promise<{ names: string[]; earlier?: Call }> {
  const names = name === undefined ? [] : [name];
  const named = name === undefined ? undefined : await journal.find(name);
  if (named) return { names, earlier: named };
  for (let attempt = 0; ; attempt++) {
    const alias = identifierAlias(payment, attempt);
    if (alias === undefined) return { names };
    const earlier = await journal.find(alias);
    if (earlier?.state !== "void") return { names: [...names, alias], ...(earlier && { earlier }) };
  }
}

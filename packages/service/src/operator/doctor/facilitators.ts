import { excerpt } from "@attestd/proof/text";
import type { PaymentPayload } from "@x402/core/types";
import { CATALOGUE } from "../../catalogue/catalogue.ts";
import type { RailSettings } from "../../config/config.ts";
import type { FacilitatorSettings } from "../../config/facilitators.ts";
import { away, type Finding, fail, ok, warning } from "../../health/finding.ts";
import { hasCode } from "../../lib/errors.ts";
import { type Facilitator, type FacilitatorError, httpFacilitator } from "../../payment/facilitator.ts";
import { kindOn, namedAsListed } from "../../payment/listed-network.ts";
import { exactRequirement } from "../../payment/payment-option.ts";
import type { RailKind } from "../../payment/rails/rail-kind.ts";
import { RAILS } from "../../payment/rails/registry.ts";
import { resourceInfo, resourceOf } from "../../payment/resource.ts";
import type { Check, Examined } from "./examined.ts";

/** Statuses of a facilitator that refuses us, and of a gateway whose upstream is away. */
const NOT_LET_IN: readonly number[] = [401, 403, 404, 429, 502, 503, 504];
const CREDENTIALS = "key_id, secret and this host's clock, and which addresses the key allows (IPv6 too)";

/**
 * Checks every facilitator: what it settles, its fee payer, and whether it accepts a signed request. No payment is
 * settled.
 */
export const checkFacilitators: Check = async (examined) => {
  const found = await Promise.all(
    RAILS.flatMap((kind) => {
      const settings = examined.config.rails[kind.name];
      return (settings?.facilitators ?? []).map((own) => checkFacilitator(kind, settings, own, examined));
    }),
  );
  return found.flat();
};

async function checkFacilitator(
  kind: RailKind,
  settings: RailSettings | undefined,
  own: FacilitatorSettings,
  { config, signal }: Examined,
): Promise<Finding[]> {
  const name = `facilitators: ${new URL(own.url).host}`;
  const { network } = kind;
  const rail = { network, isNetwork: (name: string) => kind.isNetwork(name, config) };
  const facilitator = namedAsListed(httpFacilitator(own), rail);
  let supported: Awaited<ReturnType<Facilitator["supported"]>>;
  try {
    supported = await facilitator.supported(signal);
  } catch (error) {
    if (!hasCode(error, "facilitator_failed")) throw error;
    return [refused(name, own, "/supported", error)];
  }
  const settled = kindOn(rail, supported);
  if (!settled) {
    const networks = [...new Set(supported.map((listed) => listed.network))]
      .slice(0, 6)
      .map((listed) => excerpt(listed, 64))
      .join(", ");
    return [fail(`${name} does not settle ${network}, but ${networks || "nothing"}. Name one that does.`)];
  }
  const { feePayer } = settled.extra;
  if (kind.needsFeePayer && typeof feePayer !== "string")
    return [fail(`${name} names no fee payer on ${network}, without which nobody can pay. Name another one.`)];

  const requirement = exactRequirement(kind, {
    amount: settings?.price ?? 0n,
    payTo: settings?.payTo ?? "",
    maxTimeoutSeconds: config.maxTimeoutSeconds,
    extra: { ...settled.extra },
  });
  const resource = resourceInfo(resourceOf(CATALOGUE.attest, config.publicUrl ?? "http://127.0.0.1"));
  const payment: PaymentPayload = { x402Version: 2, resource, accepted: requirement, payload: kind.unsigned };
  try {
    await facilitator.verify(payment, requirement, signal);
  } catch (error) {
    if (!hasCode(error, "facilitator_failed")) throw error;
    const { ending } = error.details;
    // Any other status answers the request itself: the credentials are accepted, and the payment is not.
    const isLetIn = ending === "unreadable" || (typeof ending === "number" && !NOT_LET_IN.includes(ending));
    if (!isLetIn) return [refused(name, own, "/verify", error)];
  }
  const signed =
    own.auth.kind === "none" ? "takes requests without credentials" : `takes our ${own.auth.kind} credentials`;
  return [ok(`${name} settles ${settled.network}, and ${signed}.`)];
}

function refused(
  name: string,
  { auth }: FacilitatorSettings,
  path: string,
  { message, details }: FacilitatorError,
): Finding {
  const { ending } = details;
  const what = `${name}: ${path}: ${message.replace(/^the facilitator gave no answer: /, "")}`;
  if (ending === 401) {
    const remedy = auth.kind === "none" ? "Set its kind, key_id and secret" : `Check its ${CREDENTIALS}`;
    return fail(`${what}. ${remedy}.`);
  }
  if (ending === 403)
    return fail(`${what}. Check the account: its free tier may be used up, or its key_id may not be allowed this.`);
  if (ending === 429) return warning(`${what}. It limits our requests: choose a larger plan.`);
  if (ending === 404 || ending === "unreadable")
    return fail(`${what}. Check the path of the URL: ${path} is appended to it.`);
  return away(`${what}. Nothing is sold by it until it answers.`);
}

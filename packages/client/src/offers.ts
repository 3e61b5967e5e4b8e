import { formatUsdc, isUsdc, railLabel, railOf } from "@attestd/proof/rails";
import type { PaymentRequirements } from "@x402/core/types";
import { AttestError } from "./errors.ts";
import type { Wallet } from "./wallet.ts";

/** The longest validity of an authorization: no call needs more. */
const MAX_LIFETIME_SECONDS = 3600;

/** Plain transfers (EIP-3009 on Base), whose effect a payer can read: no other method is signed. */
const TRANSFER_METHODS = new Set([undefined, "default", "eip3009"]);

/**
 * Chooses the service's first offer that the wallet can pay, of at most `maxPrice` in the network's own USDC.
 * @param offers `accepts` of x402's PaymentRequired
 * @param maxPrice micro-USDC
 * @param signed micro-USDC that was signed before for the same thing, and may have been taken
 * @throws AttestError `price_too_high` when only the price is wrong, else `no_usable_offer` with the reason for each
 */
export function chooseOffer(
  offers: readonly PaymentRequirements[],
  wallet: Wallet,
  maxPrice: bigint,
  signed = 0n,
): PaymentRequirements {
  const reasons = offers.map((offer) => objection(offer, wallet));
  const payable = offers.filter((_, i) => reasons[i] === undefined);
  const affordable = payable.find((offer) => signed + BigInt(offer.amount) <= maxPrice);
  if (affordable) return affordable;

  const [cheapest] = payable.map((offer) => BigInt(offer.amount)).sort((a, b) => (a < b ? -1 : 1));
  if (cheapest !== undefined) {
    const price = signed + cheapest;
    const before = signed > 0n ? `, and ${formatUsdc(signed)} USDC is signed already: together` : ",";
    throw new AttestError(
      "price_too_high",
      `The service asks ${formatUsdc(cheapest)} USDC${before} more than the ${formatUsdc(maxPrice)} allowed.`,
      { price },
    );
  }
  const why = offers.map((offer, i) => `${railLabel(offer.network)}: ${reasons[i]}`);
  throw new AttestError("no_usable_offer", `The wallet can pay none of the offers (${why.join("; ") || "none made"}).`);
}

/** Returns why an offer cannot be paid at any price; undefined when it can. */
function objection(offer: PaymentRequirements, wallet: Wallet): string | undefined {
  const rail = railOf(offer.network);
  if (!rail) return "an unknown network";
  if (offer.scheme !== "exact") return `the scheme ${offer.scheme} is not supported`;
  if (!isUsdc(rail, offer.asset)) return `${offer.asset} is not USDC`;
  if (!/^[1-9]\d{0,18}$/.test(offer.amount)) return "the amount is not a positive whole number";
  // x402 allows an offer without `extra`, whatever its type says.
  const { assetTransferMethod, name, version } = offer.extra ?? {};
  if (!TRANSFER_METHODS.has(assetTransferMethod as string | undefined)) return "not a plain transfer";
  if (rail.name === "base" && !(typeof name === "string" && typeof version === "string"))
    return "the token's name and version, which the payer signs (EIP-712), are missing";
  if (!(offer.maxTimeoutSeconds > 0 && offer.maxTimeoutSeconds <= MAX_LIFETIME_SECONDS)) {
    return `the payment would stay open for ${offer.maxTimeoutSeconds} s`;
  }
  if (wallet.payer(offer.network) === undefined) return "the wallet has no key for it";
  return undefined;
}

import type { Wallet } from "@attestd/client";
import { type KeyHistory, parseJson, parseKeyHistory } from "@attestd/proof";
import { withoutTrailing } from "@attestd/proof/text";
import { breakBetween } from "@attestd/web/trust-basis";
import { EXIT, Failure, failsFor } from "./failure.ts";
import { collect } from "./files.ts";
import { fault, type TrustedHistory } from "./keys-file.ts";

const TIMEOUT_MS = 30_000;
const MAX_BYTES = 2 ** 20;

/** The bytes of the key history that a service publishes. @throws Failure `unreachable` */
export async function servedKeys(service: string): Promise<Uint8Array> {
  const url = `${withoutTrailing(service, "/")}/.well-known/attestor-keys.json`;
  const response = await fetch(url, { redirect: "error", signal: AbortSignal.timeout(TIMEOUT_MS) }).catch((error) => {
    throw new Failure(EXIT.unreachable, `no answer from ${service}`, ["Try again later."], error);
  });
  if (!response.ok) throw new Failure(EXIT.unreachable, `${url} answered ${response.status}`);
  return collect(response.body ?? new Blob().stream(), MAX_BYTES).catch(failsFor(EXIT.unreachable, `read ${url}`));
}

/**
 * A wallet that signs only while the service publishes the trusted keys: what it sells would not verify otherwise.
 *
 * @returns a wallet whose `sign` rejects with a Failure when the service's history does not continue the trusted one, or
 * when its newest key is not in the trusted one
 */
export function withKeysOf(service: string, { trust, basis }: TrustedHistory, wallet: Wallet): Wallet {
  return {
    payer: (network) => wallet.payer(network),
    async sign(required, offer, dateMs) {
      const bytes = await servedKeys(service);
      const difference = differenceOf(trust, bytes);
      if (difference === undefined) return wallet.sign(required, offer, dateMs);
      throw new Failure(EXIT.notPaid, `not paid: the service's keys are not those of ${basis.name}`, difference);
    },
  };
}

/** Why bundles of a service would not verify by the trusted history, and what to do; undefined when they would. */
function differenceOf(trust: KeyHistory, bytes: Uint8Array): string[] | undefined {
  const again = "To trust its history of today: attestd keys history --service URL --save FILE";
  try {
    const served = parseKeyHistory(parseJson(bytes));
    const why = breakBetween(trust, served);
    if (why) return ["Its key history does not continue the one that you trust.", fault(why), "Ask its operator."];
    const newest = served.keys.at(-1)?.kid;
    const isKnown = trust.keys.some(({ kid }) => kid === newest);
    return isKnown ? undefined : [`Its newest key, ${newest}, was added since.`, again];
  } catch (error) {
    return ["What it publishes is not a key history.", fault(error)];
  }
}

import type { PaymentRequirements } from "@x402/core/types";
import type { Facilitator, SupportedKind } from "./facilitator.ts";

/** A rail's network. `network` is CAIP-2, and `isNetwork` accepts every spelling. */
export type NamedRail = { network: string; isNetwork(network: string): boolean };

/** Finds the rail in a facilitator's list: under its CAIP-2 name, else under another spelling. */
export function kindOn({ network, isNetwork }: NamedRail, kinds: readonly SupportedKind[]): SupportedKind | undefined {
  return kinds.find((kind) => kind.network === network) ?? kinds.find((kind) => isNetwork(kind.network));
}

/**
 * Sends payments to a facilitator with the network name that it lists, in the requirement and in the payment's
 * `accepted`. Some compare names exactly: @x402-avm 2.6.1, GoPlausible's, names Algorand by the whole genesis hash, of
 * which CAIP-2, and so every offer to a buyer, has the first 32 characters.
 *
 * A payment before the facilitator's first list requests the list: nothing is sent under a name that may be wrong.
 */
export function namedAsListed(facilitator: Facilitator, rail: NamedRail): Facilitator {
  let listed: string | undefined;

  async function supported(signal: AbortSignal) {
    const kinds = await facilitator.supported(signal);
    listed = kindOn(rail, kinds)?.network ?? listed;
    return kinds;
  }

  function ask<T>(operation: (...asked: Parameters<Facilitator["verify"]>) => Promise<T>) {
    return async (...[payment, requirement, signal]: Parameters<Facilitator["verify"]>) => {
      if (listed === undefined) await supported(signal);
      const network = (listed ?? rail.network) as PaymentRequirements["network"];
      const accepted = { ...payment.accepted, network };
      return operation({ ...payment, accepted }, { ...requirement, network }, signal);
    };
  }

  return { supported, verify: ask(facilitator.verify), settle: ask(facilitator.settle) };
}
